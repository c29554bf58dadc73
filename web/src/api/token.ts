const KEY = "arena.token";

/** The token of this tab; forgotten when the tab is closed. */
export function storedToken(): string | null {
  return sessionStorage.getItem(KEY);
}

export function storeToken(token: string | null): void {
  if (token) sessionStorage.setItem(KEY, token);
  else sessionStorage.removeItem(KEY);
}

export function authorization(): Record<string, string> {
  const token = storedToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Whether a text can be a token: what a header cannot hold is none. */
export function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}
