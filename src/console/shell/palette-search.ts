/** What the palette finds, and in which order. */

export type PaletteItem = {
  /** Of its source: an address, or the name of an action. */
  id: string;
  label: string;
  /** Beside it, such as what it is. */
  hint?: string;
  /** Other words for it. */
  keywords?: string;
  section: 'ids' | 'actions' | 'pages' | 'items' | 'recent';
};

const MOST_SHOWN = 50;

/** Of one word in one text: it begins it, it begins a word in it, or it is somewhere. */
const scoreIn = (text: string, token: string): number => {
  const at = text.indexOf(token);
  if (at < 0) return 0;
  if (at === 0) return 4;
  return /[\s_./:-]/.test(text[at - 1] ?? '') ? 3 : 1;
};

const scoreOf = (item: PaletteItem, tokens: readonly string[]): number => {
  const label = item.label.toLowerCase();
  const rest = `${item.keywords ?? ''} ${item.hint ?? ''}`.toLowerCase();
  let score = 0;
  for (const token of tokens) {
    const best = Math.max(scoreIn(label, token), scoreIn(rest, token) / 2);
    if (best === 0) return 0;
    score += best;
  }
  return label === tokens.join(' ') ? score + 10 : score;
};

/** @param recent ids, the last one first */
export const search = (
  items: readonly PaletteItem[],
  query: string,
  recent: readonly string[],
): PaletteItem[] => {
  const tokens = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (tokens.length === 0) return withoutQuery(items, recent);
  const rank = (item: PaletteItem): number => {
    const at = recent.indexOf(item.id);
    return at < 0 ? recent.length : at;
  };
  return items
    .map((item) => ({ item, score: item.section === 'ids' ? 1 : scoreOf(item, tokens) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || rank(a.item) - rank(b.item))
    .slice(0, MOST_SHOWN)
    .map(({ item }) => item);
};

/** What was opened lately, then all screens. */
const withoutQuery = (items: readonly PaletteItem[], recent: readonly string[]): PaletteItem[] => {
  const lately = recent.flatMap((id) => {
    const item = items.find((other) => other.id === id);
    return item ? [{ ...item, section: 'recent' as const }] : [];
  });
  const rest = items.filter(
    ({ id, section }) => section !== 'items' && section !== 'ids' && !recent.includes(id),
  );
  return [...lately, ...rest].slice(0, MOST_SHOWN);
};

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** A text that may be the id of a run or of a thread. */
export const isTypedId = (text: string): boolean =>
  UUID.test(text) || ULID.test(text) || /^(run|thread|trace)_\S+$/.test(text);
