import type { IconName } from '../design/Icon.tsx';

/** Search and order of the palette. */

export type PaletteItem = {
  /** The address, or the name of the action. */
  id: string;
  label: string;
  icon?: IconName;
  /** Shown next to the label, for example the kind of entry. */
  hint?: string;
  /** Shortcut, such as `g a`. */
  keys?: string | undefined;
  keywords?: string;
  section: Section;
  /** An action that is offered only for a query, because there are many of its kind. */
  isVerb?: boolean;
  /** Performed in place of opening the address. */
  run?: () => void;
};

export type Section = 'recent' | 'ids' | 'actions' | 'pages' | 'items' | 'threads' | 'runs';

const MOST_SHOWN = 50;

/** Results of one section if there are others. */
const MOST_PER_SECTION = 8;

/** Score of a word in a text: highest at the start of the text, then at the start of a word, then anywhere. */
const scoreIn = (text: string, token: string): number => {
  const at = text.indexOf(token);
  if (at < 0) return 0;
  if (at === 0) return 4;
  return /[\s_./:-]/.test(text[at - 1] ?? '') ? 3 : 1;
};

/** Zero for an item without one of the words. */
const scoreOf = (item: PaletteItem, tokens: readonly string[]): number => {
  if (item.section === 'ids') return Number.POSITIVE_INFINITY;
  // The service has found these, also by words that the label does not show.
  if (item.section === 'threads' || item.section === 'runs') return 1;
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

/**
 * Items with all words of the query, grouped by section: the section with the best item first.
 * @param recent ids, latest first
 */
export const search = (
  items: readonly PaletteItem[],
  query: string,
  recent: readonly string[],
): PaletteItem[] => {
  const tokens = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (tokens.length === 0) return withoutQuery(items, recent);
  const rank = ({ id }: PaletteItem): number => {
    const at = recent.indexOf(id);
    return at < 0 ? recent.length : at;
  };
  const found = items
    .map((item) => ({ item, score: scoreOf(item, tokens) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => (a.score === b.score ? rank(a.item) - rank(b.item) : b.score - a.score));
  const bySection = new Map<Section, PaletteItem[]>();
  for (const { item } of found) bySection.set(item.section, [...(bySection.get(item.section) ?? []), item]);
  const most = bySection.size > 1 ? MOST_PER_SECTION : MOST_SHOWN;
  return [...bySection.values()].flatMap((own) => own.slice(0, most)).slice(0, MOST_SHOWN);
};

/** Recently opened items, then actions, the latest threads, and pages. */
const withoutQuery = (items: readonly PaletteItem[], recent: readonly string[]): PaletteItem[] => {
  const lately = recent.flatMap((id) => {
    const item = items.find((other) => other.id === id);
    return item ? [{ ...item, section: 'recent' as const }] : [];
  });
  const rest = (section: Section): PaletteItem[] =>
    items.filter((item) => item.section === section && !item.isVerb && !recent.includes(item.id));
  return [...lately, ...rest('actions'), ...rest('threads'), ...rest('pages')].slice(0, MOST_SHOWN);
};

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** Whether a text may be the id of a run or a thread. */
export const isTypedId = (text: string): boolean =>
  UUID.test(text) || ULID.test(text) || /^(run|thread|trace)_\S+$/.test(text);
