import { statusOf } from '../data/error.ts';
import { anyObject } from '../data/guard.ts';
import { Meta } from '../data/meta.ts';
import { pathOf, send } from '../data/request.ts';
import { asSpec, type EntryKind, type Opened, revisionOf, type Spec } from './entry.ts';

/** Reads of an entry and its metadata for a form, which bypass the cache. */

/** A concurrent change of the entry since it was opened. `theirs` is undefined if the entry was deleted. */
export type Conflict = { theirs: Spec | undefined; meta: Meta | undefined };

/** Maps a 404 to undefined. */
const missing = (error: unknown): undefined => {
  if (statusOf(error) === 404) return undefined;
  throw error;
};

export const readSpec = async ({ namespace }: EntryKind, id: string, signal?: AbortSignal): Promise<Spec> =>
  asSpec(await send({ path: pathOf`/v1/config/${namespace}/${id}`, signal }, anyObject));

/** Undefined if the entry has no metadata. */
const readMeta = ({ namespace }: EntryKind, id: string, signal?: AbortSignal): Promise<Meta | undefined> =>
  send({ path: pathOf`/v1/config/${namespace}/${id}/meta`, signal }, Meta).catch(missing);

export const readEntry = async (kind: EntryKind, id: string, signal?: AbortSignal): Promise<Opened> => {
  const [start, meta] = await Promise.all([readSpec(kind, id, signal), readMeta(kind, id, signal)]);
  return { isNew: false, start, meta };
};

export const findConflict = async (
  kind: EntryKind,
  { isNew, start, meta }: Opened,
): Promise<Conflict | undefined> => {
  if (isNew || !meta) return undefined;
  const now = await readMeta(kind, start.id);
  if (now && revisionOf(now) === revisionOf(meta)) return undefined;
  return { theirs: now && (await readSpec(kind, start.id).catch(missing)), meta: now };
};

/**
 * The metadata after a write. A write increments the revision by one, so a higher revision is a concurrent change: it
 * is left to the comparison of the next save.
 */
export const readMetaAfter = async (
  kind: EntryKind,
  id: string,
  { meta: before }: Opened,
): Promise<Meta | undefined> => {
  const written = revisionOf(before);
  const now = await readMeta(kind, id).catch(() => before);
  const read = revisionOf(now);
  if (!now || written === undefined || read === undefined || read <= written + 1) return now;
  return { ...now, revision: written + 1 };
};
