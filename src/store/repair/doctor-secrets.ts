import { isObject } from '../../schema/endpoint.ts';
import type { Rows } from '../engine/batch.ts';
import { reasonOf } from '../engine/folder.ts';
import type { Key } from '../engine/keys.ts';
import { placeOf } from '../engine/sealed-table.ts';
import { createOpenOlder, isSealed, type OpenOlder, type Place } from '../engine/secrets-cipher.ts';
import { findKey, type KeySource, secretsOf } from '../engine/secrets-key.ts';
import type { Entry } from './derived.ts';

/**
 * Reports how the secrets of a folder are encrypted; undefined when its key is missing or wrong, which is a finding.
 * Nothing is written, and no key is generated.
 */

export type SecretsReport = {
  /** `none`: the folder has no key yet. */
  key: KeySource | 'none';
  /** Rows sealed in the current format with the current key. */
  sealed: number;
  /** Rows that are plain, or sealed by an earlier version or with an earlier key: the next start seals them. */
  older: number;
};

const TABLES = [
  'config',
  'audit',
  'resource_versions',
  'documents',
  'agent_drafts',
  'push_configs',
  'connections',
  'authorizations',
] as const;

type Folder = {
  dir: string;
  meta: Rows;
  secretsKey: string | undefined;
  entries(table: string): Iterable<Entry>;
};

type Note = (problem: string, table: string, key: Key) => void;

export const examineSecrets = (folder: Folder, note: Note): SecretsReport | undefined => {
  const report: SecretsReport = { key: 'none', sealed: 0, older: 0 };
  let openOlder: OpenOlder | undefined;
  try {
    const key = findKey(folder.dir, folder.meta, folder.secretsKey);
    if (key) {
      openOlder = createOpenOlder(secretsOf(key));
      report.key = key.source;
    }
  } catch (error) {
    note(reasonOf(error), 'meta', ['secrets_check']);
    return undefined;
  }
  for (const { place, body } of bodiesIn(folder)) {
    const state = stateOf(body, () => openOlder?.(body, place));
    if (state instanceof Error) note(UNREADABLE, place.table, place.key);
    else report[state] += 1;
  }
  return report;
};

/** Yields the texts that may be sealed. */
function* bodiesIn({ entries }: Folder): Iterable<{ place: Place; body: string }> {
  for (const table of TABLES) {
    for (const { key, value } of entries(table)) {
      const row = isObject(value) ? value : {};
      if (typeof row.body === 'string') yield { place: placeOf(table, key, row), body: row.body };
    }
  }
}

const UNREADABLE =
  'a row that cannot be decrypted: it has another key, was moved from another row, or is damaged';

const stateOf = (body: string, openOlder: () => string | undefined): 'sealed' | 'older' | Error => {
  if (!isSealed(body)) return 'older';
  try {
    return openOlder() === undefined ? 'sealed' : 'older';
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};
