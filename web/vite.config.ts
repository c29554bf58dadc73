import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/agent-dashboard/",
  plugins: [react()],
  // The server puts a fresh nonce in its place with every answer (src/arena/dashboard/routes.py).
  html: { cspNonce: "ARENA_NONCE" },
  build: {
    outDir: "../src/arena/dashboard/dist",
    emptyOutDir: true,
    // Browsers that know light-dark(): written for older ones, it would not follow our switch.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Nothing as data: addresses in scripts; every file is cached by its own name.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:5109" },
  },
});
