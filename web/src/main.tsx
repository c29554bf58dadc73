import "@mantine/core/styles.css";
import "./styles.css";
import { MantineProvider } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { theme } from "./theme";

/** The nonce of this answer of the server: without it the browser refuses our <style> elements. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
        <App />
      </MantineProvider>
    </StrictMode>,
  );
}
