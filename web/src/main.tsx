import "@mantine/core/styles.css";
import "./styles.css";
import { MantineProvider } from "@mantine/core";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { theme, variables } from "./theme";

/** The nonce of this answer of the server: without it the browser refuses our <style> elements. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

// For the dialogs: what keeps the page behind them from scrolling is a <style> element, too.
setNonce(styleNonce());

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={styleNonce}
      >
        <App />
      </MantineProvider>
    </StrictMode>,
  );
}
