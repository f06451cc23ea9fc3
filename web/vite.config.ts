import { defineConfig } from "vite";

// The built pages lie inside libmycel_insight; `npm run dev` asks a server started with --port 8080.
export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, reportCompressedSize: true },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
});
