/** Meaning of keys, independent of the DOM. */

export type Key = {
  key: string;
  /** Ctrl, or ⌘ on a Mac. */
  mod: boolean;
  shift: boolean;
  alt: boolean;
  typing: boolean;
};

export type Effect =
  | { do: 'palette' | 'help' | 'search' | 'new' | 'save' | 'prefix' }
  | { do: 'go'; path: string }
  | { do: 'row'; by: 1 | -1 }
  | { do: 'tab'; by: 1 | -1 };

/**
 * @param prefixed whether `g` was pressed just before
 * @param places paths by the key after `g`
 */
export const effectOf = (
  pressed: Key,
  prefixed: boolean,
  places: Readonly<Record<string, string>>,
): Effect | undefined => {
  const { mod, alt, typing } = pressed;
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  if (mod) return WITH_MOD[key];
  if (typing || alt) return undefined;
  if (prefixed) {
    const path = places[key];
    return path === undefined ? undefined : { do: 'go', path };
  }
  return ALONE[key];
};

const WITH_MOD: Readonly<Record<string, Effect>> = { k: { do: 'palette' }, s: { do: 'save' } };

const ALONE: Readonly<Record<string, Effect>> = {
  g: { do: 'prefix' },
  '?': { do: 'help' },
  '/': { do: 'search' },
  n: { do: 'new' },
  j: { do: 'row', by: 1 },
  k: { do: 'row', by: -1 },
  ArrowDown: { do: 'row', by: 1 },
  ArrowUp: { do: 'row', by: -1 },
  '[': { do: 'tab', by: -1 },
  ']': { do: 'tab', by: 1 },
};
