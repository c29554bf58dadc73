import "@mantine/core/styles.css";
import "./styles.css";
import { MantineProvider } from "@mantine/core";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { theme, variables } from "./theme";

/** The nonce of this response: without it the browser blocks our <style> elements. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

// Dialogs lock scrolling with a <style> element, which needs the nonce too.
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
