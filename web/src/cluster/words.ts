// The texts of the Cluster page.
import { spoken } from "../state";

const en = {
  none: "No run of several ranks is recorded here.",
  ranks: "ranks",
  hosts: "Host",
  rank: "Rank",
  peer: "Peer",
  stepTime: "Step",
  compute: "Compute",
  communication: "Communication",
  wait: "Waits for data",
  other: "Other",
  peak: "Peak memory",
  slower: "Slower than the median",
  bandwidth: "Bandwidth",
  share: "of the median",
  collective: "Collective",
  advice: "Advice",
  fine: "Nothing stands out.",
  memory: "Peak memory by rank and step",
  links: "Slowest links",
  table: "Ranks",
  reading: "reading records",
  damaged: "damaged records left out",
  ms: "ms",
  slow_host: "Host {host}: its {ranks} ranks compute {slower} longer than the median. Look at its clock, cooling and neighbours, or leave it out.",
  slow_rank: "Rank {rank} on {host} computes {slower} longer than the median. Look at its device, or at what else runs there.",
  slow_link: "{collective} between {rank} and {peer} reaches {share} of the usual bandwidth. Look at the cable, the switch port, or place the two ranks elsewhere.",
  communication_advice: "Communication takes {share} of a step. Try larger batches, gradient accumulation, or another parallel strategy.",
  data: "Waiting for data takes {share} of a step. Try more parallel workers in the pipeline, or a cache.",
  memory_advice: "Rank {rank} peaks at {peak}, the median at {median}. Balance the stages, or recompute there.",
  missing: "{ranks} ranks have recorded nothing.",
  stopped: "Rank {rank} on {host} stopped at step {last_step}.",
};
const zh: typeof en = {
  none: "此处没有多卡训练的记录。",
  ranks: "个进程",
  hosts: "主机",
  rank: "进程",
  peer: "对端",
  stepTime: "单步",
  compute: "计算",
  communication: "通信",
  wait: "等待数据",
  other: "其他",
  peak: "内存峰值",
  slower: "比中位数慢",
  bandwidth: "带宽",
  share: "占中位数",
  collective: "通信算子",
  advice: "建议",
  fine: "没有异常。",
  memory: "各进程各步的内存峰值",
  links: "最慢的链路",
  table: "进程",
  reading: "正在读取记录",
  damaged: "条损坏记录已忽略",
  ms: "毫秒",
  slow_host: "主机 {host}:其 {ranks} 个进程的计算时间比中位数长 {slower}。请检查频率、散热和其他负载,或移除该主机。",
  slow_rank: "主机 {host} 上的进程 {rank} 计算时间比中位数长 {slower}。请检查该设备及其上的其他任务。",
  slow_link: "进程 {rank} 与 {peer} 之间的 {collective} 只达到通常带宽的 {share}。请检查线缆和交换机端口,或调整进程位置。",
  communication_advice: "通信占单步时间的 {share}。可尝试更大的批次、梯度累积或其他并行策略。",
  data: "等待数据占单步时间的 {share}。可增加数据流水线的并行数,或使用缓存。",
  memory_advice: "进程 {rank} 的内存峰值为 {peak},中位数为 {median}。请平衡各阶段,或在该处使用重计算。",
  missing: "{ranks} 个进程没有任何记录。",
  stopped: "主机 {host} 上的进程 {rank} 停在第 {last_step} 步。",
};
export type ClusterWord = keyof typeof en;
export const c = (k: ClusterWord): string => (spoken() === "zh" ? zh : en)[k];

export function bytes(v: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (v >= 1024 && at < units.length - 1) {
    v /= 1024;
    at++;
  }
  return `${Number(v.toPrecision(3))} ${units[at]}`;
}
export const percent = (v: number): string => `${Math.round(100 * v)} %`;

// A finding as a sentence.
export function sentence(f: Record<string, string | number>): string {
  const key = f.kind === "communication" || f.kind === "memory" ? `${f.kind}_advice` : String(f.kind);
  const text = c(key as ClusterWord) ?? String(f.kind);
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const v = f[name];
    if (name === "slower" || name === "share") return percent(Number(v));
    if (name === "peak" || name === "median") return bytes(Number(v));
    return String(v);
  });
}
