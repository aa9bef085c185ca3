import type { RootDatabase } from 'lmdb';
import { z } from 'zod';
import { Unavailable } from '../../schema/outcome.ts';
import type { Rows } from '../engine/batch.ts';
import type { Key } from '../engine/keys.ts';
import type { DerivedName } from './derived.ts';
import { type Migration, rebuildIndexes, type SlicedMigration } from './migrate.ts';
import { REBUILT, rebuildRunLists } from './run-lists.ts';
import { addRunStates } from './run-states.ts';

/**
 * The format version of the folder. A folder of an older version is migrated when it is opened; a folder of a newer
 * version is rejected, because this program could damage it.
 *
 * Guarantees: all whole migrations, and the first slice of a sliced one, are one transaction. Every further slice is a
 * transaction that also stores the position of the next one. Once a slice is written, the folder has the new version,
 * so that older programs reject it, and the next start continues at the stored position.
 */

export type Format = {
  version: number;
  /** `migrations[n]` turns version n into n + 1. */
  migrations: Record<number, Migration>;
};

/** The first version whose runs contain their states. */
export const WITH_RUN_STATES = 5;

/** The first version with the present lists of runs. */
const WITH_RUN_PLACES = 7;

export const FORMAT: Format = {
  version: 7,
  migrations: {
    1: rebuildIndexes,
    2: rebuildIndexes,
    // Rows with secrets are sealed after the folder is opened, see `control-plane.ts`. Older programs cannot read them.
    3: () => {},
    4: addRunStates,
    // Threads of users are in partitions, in which older programs find nothing.
    5: () => {},
    6: rebuildRunLists,
  },
};

/** An unfinished upgrade: the version of the rows after this key. */
const Unfinished = z.object({ from: z.int(), after: z.array(z.union([z.string(), z.number()])) });

const KEY = ['upgrade'];

/** Returns the version of the rows that were not upgraded yet; undefined for an empty folder. */
export const rowVersion = (meta: Rows): number | undefined => {
  const format = meta.get(['format']);
  return Unfinished.safeParse(meta.get(KEY)).data?.from ?? (typeof format === 'number' ? format : undefined);
};

/** Returns the tables whose rows the next start rebuilds. */
export const outdatedTables = (meta: Rows): readonly DerivedName[] =>
  (rowVersion(meta) ?? WITH_RUN_PLACES) < WITH_RUN_PLACES ? REBUILT : [];

/** Upgrades a folder. */
export type Upgrade = {
  /**
   * Called inside a transaction, until it returns undefined: the folder then has the current version. Otherwise it
   * returns the position of the next slice.
   *
   * @throws Unavailable when the folder is newer than this program, or a migration is missing
   */
  proceed(): Required<Position> | undefined;
};

export const createUpgrade = (root: RootDatabase, dir: string, { version, migrations }: Format): Upgrade => {
  let sliced: { from: number; migrate: ReturnType<SlicedMigration['open']> } | undefined;

  const migrationFrom = (from: number, stored: number): Migration => {
    const migration = migrations[from];
    if (migration) return migration;
    throw new Unavailable(
      `data directory '${dir}' has format ${stored}: no upgrade from ${from} to ${from + 1} exists`,
    );
  };

  /** Returns the last key of a slice; undefined when the version is migrated. */
  const migrateOne = (migration: Migration, from: number, after: Key | undefined): Key | undefined => {
    if (typeof migration === 'function') {
      migration(root);
      return undefined;
    }
    if (sliced?.from !== from) sliced = { from, migrate: migration.open(root) };
    return sliced.migrate(after);
  };

  /** Returns the position of the next slice; undefined when no version is left. */
  const migrate = ({ from: first, after }: Position, stored: number): Required<Position> | undefined => {
    let start = after;
    for (let from = first; from < version; from += 1) {
      const reached = migrateOne(migrationFrom(from, stored), from, start);
      if (reached !== undefined) return { from, after: reached };
      start = undefined;
    }
    return undefined;
  };

  return {
    proceed() {
      const meta: Rows = root.openDB('meta', {});
      const stored = meta.get(['format']);
      if (typeof stored !== 'number') {
        meta.putSync(['format'], version);
        return undefined;
      }
      if (stored > version) {
        throw new Unavailable(
          `data directory '${dir}' has format ${stored}, this version supports up to ${version}: start the newer version, or choose another directory`,
        );
      }
      const unfinished = Unfinished.safeParse(meta.get(KEY)).data;
      const next = migrate(unfinished ?? { from: stored }, stored);
      if (stored !== version) meta.putSync(['format'], version);
      if (next) meta.putSync(KEY, next);
      else if (unfinished) meta.removeSync(KEY);
      return next;
    },
  };
};

type Position = { from: number; after?: Key };
