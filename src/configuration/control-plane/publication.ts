import type { Publication, ResourceRef, ResourceVersion } from '../../schema/publication.ts';
import type { Store } from '../../store/index.ts';
import { byBytes } from './canonical.ts';
import type { Part } from './parts.ts';

/**
 * Determines the resource versions of a snapshot (config.md 7). A version is new if the hash of its value differs from
 * that of the live one and of the newest stored one.
 */

/** The configuration belongs to the process, independent of the scopes of its runs. */
export const SCOPE = 'default';

/** Version and hash by resource. */
export type Marks = ReadonlyMap<string, { version: number; hash: string }>;

/** Version by resource. */
export type Versions = ReadonlyMap<string, { version: number }>;

export const refOf = ({ kind, id }: Pick<ResourceRef, 'kind' | 'id'>): string => `${kind} ${id}`;

type Publications = Pick<Store, 'publications'>['publications'];

export type Versioned = {
  entries: ResourceRef[];
  marks: Marks;
  added: ResourceVersion[];
  /** Versions that only previews had published. */
  released: ResourceVersion[];
};

export const versioned = (table: Publications, parts: readonly Part[], live: Marks): Versioned => {
  const marks = new Map<string, { version: number; hash: string }>();
  const added: ResourceVersion[] = [];
  const released: ResourceVersion[] = [];
  const entries = inOrder(parts).map((part): ResourceRef => {
    const { kind, id, value } = part;
    const hash = part.hash();
    const before = live.get(refOf(part));
    const isLive = before?.hash === hash;
    const stored = isLive ? undefined : table.latestVersion(SCOPE, kind, id);
    const mark = isLive ? before : stored;
    const version = mark?.hash === hash ? mark.version : (mark?.version ?? 0) + 1;
    if (mark?.hash !== hash) added.push({ kind, id, version, hash, value });
    else if (stored?.preview) released.push({ kind, id, version, hash, value });
    marks.set(refOf(part), { version, hash });
    return { kind, id, version };
  });
  return { entries, marks, added, released };
};

const inOrder = (parts: readonly Part[]): Part[] =>
  [...parts].sort((one, other) => byBytes(one.kind, other.kind) || byBytes(one.id, other.id));

export const isSame = (one: Marks, other: Marks): boolean =>
  one.size === other.size && [...one].every(([ref, { version }]) => other.get(ref)?.version === version);

export type Latest = { last: number; live: number | undefined; marks: Marks };

/**
 * Reads the state that an earlier process left. A preview contains the publication that was live when it was created.
 */
export const readLatest = (table: Publications): Latest => {
  const latest = table.latest(SCOPE);
  if (!latest) return { last: 0, live: undefined, marks: new Map() };
  const live = isPreview(latest) ? liveBehind(table, latest) : latest;
  return {
    last: latest.snapshot_version,
    live: live?.snapshot_version,
    marks: new Map(
      (live?.entries ?? []).flatMap(({ kind, id, version }) => {
        const hash = table.version(SCOPE, kind, id, version)?.hash;
        return hash === undefined ? [] : [[refOf({ kind, id }), { version, hash }]];
      }),
    ),
  };
};

export const previewMetadata = (live: string): Publication['metadata'] => ({ preview: true, live });

const isPreview = ({ metadata }: Publication): boolean => metadata.preview === true;

const liveBehind = (table: Publications, { metadata }: Publication): Publication | undefined => {
  const number = Number(metadata.live);
  return Number.isSafeInteger(number) ? table.get(SCOPE, number) : undefined;
};
