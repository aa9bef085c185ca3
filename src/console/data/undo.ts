import { anyObject, list, object, text } from './guard.ts';
import { changed, type Namespace } from './records.ts';
import { pathOf, send } from './request.ts';

/** Restores deleted entries from the copies in the audit log. */

const Deleted = object({ items: list(object({ id: text })) });

/** A restore changes only the store; the write that follows makes the entry live. @throws RequestError */
export const undoDelete = async (namespace: Namespace, id: string): Promise<void> => {
  const query = { resource: `${namespace}/${id}`, action: 'delete', limit: 1 };
  const { items } = await send({ path: '/v1/audit-log', query }, Deleted);
  const version = items[0]?.id;
  if (version === undefined) throw new Error('the audit log does not have it');
  await restoreVersion(namespace, id, version);
  await publish(namespace, id);
};

/** @throws RequestError */
export const restoreVersion = (namespace: string, id: string, version: string): Promise<unknown> =>
  send({ method: 'POST', path: pathOf`/v1/config/${namespace}/${id}/restore`, body: { version } }, anyObject);

/** Writes an entry unchanged, which makes it live. @throws RequestError */
export const publish = async (namespace: Namespace, id: string): Promise<void> => {
  const path = pathOf`/v1/config/${namespace}/${id}`;
  const body = await send({ path }, anyObject);
  await send({ method: 'PUT', path, body }, anyObject);
  changed(namespace);
};
