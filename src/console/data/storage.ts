/**
 * Values that the console stores in this browser. A key is written only when the user changes something, and every open
 * tab is notified.
 */

const PREFIX = 'troupe';

export const KEYS = {
  token: `${PREFIX}.adminToken`,
  /** Belongs to one tab, like the verifier of a sign-in that is under way. */
  session: `${PREFIX}.session`,
  signIn: `${PREFIX}.signIn`,
  theme: `${PREFIX}.admin.theme`,
  locale: `${PREFIX}.admin.locale`,
  operator: `${PREFIX}.admin.operator`,
  zone: `${PREFIX}.admin.zone`,
  density: `${PREFIX}.admin.density`,
  rail: `${PREFIX}.admin.rail`,
  recent: `${PREFIX}.admin.recent`,
  columns: `${PREFIX}.admin.columns`,
  dismissed: `${PREFIX}.admin.dismissed`,
  threadChart: `${PREFIX}.admin.threadChart`,
  playgroundTools: `${PREFIX}.admin.playgroundTools`,
  assistantOpen: `${PREFIX}.admin.assistantOpen`,
  runViews: `${PREFIX}.admin.runViews`,
  presets: `${PREFIX}.admin.presets`,
  guide: `${PREFIX}.admin.guide`,
  watched: `${PREFIX}.admin.watched`,
  testAgents: `${PREFIX}.admin.testAgents`,
  mutedKinds: `${PREFIX}.admin.muted`,
  /** Belongs to one tab. It is followed by the id of the draft; `.new` stands for an agent that is not stored yet. */
  draft: `${PREFIX}.admin.draft`,
} as const;

/** The storage is looked up with each access, because that already fails where the browser stores nothing. */
const accessTo = (storage: () => Storage) => ({
  /** Also null where the browser stores nothing for this page. */
  read: (key: string): string | null => {
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  },
  /** @param value null removes the key */
  write: (key: string, value: string | null): void => {
    try {
      if (value === null) storage().removeItem(key);
      else storage().setItem(key, value);
    } catch {
      // The browser stores nothing; the value stays correct until the page is closed.
    }
  },
});

export const { read: readKey, write: writeKey } = accessTo(() => localStorage);

/** Values that only this tab has, until it is closed. */
export const { read: readOfTab, write: writeOfTab } = accessTo(() => sessionStorage);

export const readJson = (key: string): unknown => {
  try {
    return JSON.parse(readKey(key) ?? 'null');
  } catch {
    return null;
  }
};

export const onKey = (key: string, listener: (value: string | null) => void): void =>
  globalThis.addEventListener?.('storage', (event) => {
    // The key is null when all keys were cleared.
    if (event.key === key || event.key === null) listener(event.key === null ? null : event.newValue);
  });
