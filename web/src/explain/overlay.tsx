// A saliency map laid over its image: the map is a grey picture, drawn in the colours of heat.
import { useEffect, useRef } from "preact/hooks";
import { address } from "../api";
import { heat } from "../palette";

export function load(url: string): Promise<HTMLImageElement> {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => failed(new Error("the picture cannot be read"));
    image.src = url;
  });
}

// Grey 0 to 255 as colours; what hardly counts lets the image through.
export function tint(pixels: Uint8ClampedArray, opacity: number) {
  for (let i = 0; i < pixels.length; i += 4) {
    const v = pixels[i] / 255;
    const [r, g, b] = heat(v);
    pixels[i] = r;
    pixels[i + 1] = g;
    pixels[i + 2] = b;
    pixels[i + 3] = Math.round(255 * opacity * (0.25 + 0.75 * v));
  }
}

export function Overlay({ run, image, map, opacity, label }: { run: number; image: number; map: number | null; opacity: number; label: string }) {
  const at = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let old = false;
    const draw = async () => {
      const below = await load(address("image", { run, tag: "explain/image", number: image }));
      const above = map === null ? null : await load(address("image", { run, tag: "explain/map", number: map }));
      const canvas = at.current;
      if (old || !canvas) return;
      const scale = Math.max(1, Math.round(192 / below.naturalWidth));
      canvas.width = below.naturalWidth * scale;
      canvas.height = below.naturalHeight * scale;
      const c = canvas.getContext("2d")!;
      c.imageSmoothingEnabled = false;
      c.drawImage(below, 0, 0, canvas.width, canvas.height);
      if (above) {
        const small = document.createElement("canvas");
        small.width = above.naturalWidth;
        small.height = above.naturalHeight;
        const s = small.getContext("2d")!;
        s.drawImage(above, 0, 0);
        const data = s.getImageData(0, 0, small.width, small.height);
        tint(data.data, opacity);
        s.putImageData(data, 0, 0);
        c.drawImage(small, 0, 0, canvas.width, canvas.height);
      }
      canvas.dataset.drawn = String(map ?? "image");
    };
    draw().catch(() => {});
    return () => {
      old = true;
    };
  }, [run, image, map, opacity]);
  return <canvas ref={at} class="overlay" role="img" aria-label={label} />;
}
