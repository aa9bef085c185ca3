import type { Kind } from './kinds.ts';

/** One row of the table. `K` is its name, `T` the type of its value. */
export type Setting<K extends string = string, T = unknown> = {
  /** Name in the settings file and in the options of the embedding API; a dot separates sections. */
  key: K;
  env: string;
  /** Older or foreign names of the variable, read when `env` is not set. */
  alsoRead?: readonly string[];
  type: Kind<T>;
  default?: T;
  /** Meaning of an unset value, for the column of defaults. */
  unset?: string;
  /** Unit, if the name does not end in it. */
  unit?: string;
  secret?: true;
  /** Key of the setting without which this one has no effect, and is rejected. */
  needs?: string;
  /** Sources that cannot set it. */
  not?: 'flag or file' | 'file';
  doc: string;
};

type Described<K extends string, T> = Omit<Setting<K, T>, 'default'>;

export function setting<const K extends string, T>(
  row: Described<K, T> & { default: NoInfer<T> },
): Setting<K, T>;
export function setting<const K extends string, T>(row: Described<K, T>): Setting<K, T | undefined>;
export function setting(row: Setting): Setting {
  return row;
}

export const hasFlag = (row: Setting): boolean => row.not !== 'flag or file';
export const hasKey = (row: Setting): boolean => row.not === undefined;

/** `SERVICE_HTTP_ADDR` → `http-addr`. */
export const flagOf = (row: Setting): string =>
  row.env
    .replace(/^SERVICE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
