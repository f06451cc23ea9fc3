import { t } from "../state";

// Nothing to show yet: what to write so that there is.
export function Empty({ text, code }: { text: string; code: string }) {
  return (
    <div class="empty">
      <p>{text}</p>
      <p>{t("writeThis")}</p>
      <pre>
        <code>{code}</code>
      </pre>
    </div>
  );
}
