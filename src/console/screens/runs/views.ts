import { createAtom } from '@xstate/store';
import { isObject } from '../../data/guard.ts';
import { KEYS, onKey, readJson, writeKey } from '../../data/storage.ts';

/** A named view of the list with its query parameters, stored in this browser. */
export type View = { name: string; query: Readonly<Record<string, string>> };

const textsIn = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** Validates the stored value, which may have been changed by other code. */
export const viewsIn = (stored: unknown): View[] =>
  Array.isArray(stored)
    ? stored.flatMap((each) =>
        isObject(each) && typeof each.name === 'string' && each.name !== ''
          ? [{ name: each.name, query: textsIn(each.query) }]
          : [],
      )
    : [];

export const views = createAtom<readonly View[]>(viewsIn(readJson(KEYS.runViews)));

onKey(KEYS.runViews, () => views.set(viewsIn(readJson(KEYS.runViews))));

const store = (next: readonly View[]): void => {
  views.set(next);
  writeKey(KEYS.runViews, next.length === 0 ? null : JSON.stringify(next));
};

/** Stores a view; one with the same name is replaced. */
export const keepView = (view: View): void =>
  store([...views.get().filter(({ name }) => name !== view.name), view]);

export const forgetView = (name: string): void => store(views.get().filter((view) => view.name !== name));

export const isView = ({ query }: View, address: Readonly<Record<string, string | undefined>>): boolean => {
  const said = Object.entries(address).filter(([, value]) => value !== undefined);
  return said.length === Object.keys(query).length && said.every(([key, value]) => query[key] === value);
};
