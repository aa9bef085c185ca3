/**
 * What the console remembers in this browser. A key is written only when its user changed something, and every tab that
 * is open hears of it.
 */

const PREFIX = 'troupe';

export const KEYS = {
  token: `${PREFIX}.adminToken`,
  theme: `${PREFIX}.admin.theme`,
  locale: `${PREFIX}.admin.locale`,
  operator: `${PREFIX}.admin.operator`,
  zone: `${PREFIX}.admin.zone`,
  density: `${PREFIX}.admin.density`,
  rail: `${PREFIX}.admin.rail`,
  recent: `${PREFIX}.admin.recent`,
  columns: `${PREFIX}.admin.columns`,
  dismissed: `${PREFIX}.admin.dismissed`,
  playgroundTools: `${PREFIX}.admin.playgroundTools`,
  assistantOpen: `${PREFIX}.admin.assistantOpen`,
  runViews: `${PREFIX}.admin.runViews`,
  presets: `${PREFIX}.admin.presets`,
  mutedKinds: `${PREFIX}.admin.muted`,
  /** Of a tab, followed by what it is a draft of: `.new` for an agent that is not stored yet. */
  draft: `${PREFIX}.admin.draft`,
} as const;

/** Null also where the browser keeps nothing for this page. */
export const readKey = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

/** @param value null takes the key away */
export const writeKey = (key: string, value: string | null): void => {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Nothing is kept then; what the user sees is right until the page is left.
  }
};

export const readJson = (key: string): unknown => {
  try {
    return JSON.parse(readKey(key) ?? 'null');
  } catch {
    return null;
  }
};

/** Told of what other tabs changed. */
export const onKey = (key: string, listener: (value: string | null) => void): void =>
  globalThis.addEventListener?.('storage', (event) => {
    // The key is null when everything was cleared.
    if (event.key === key || event.key === null) listener(event.key === null ? null : event.newValue);
  });
