import { Forbidden, NotFound } from '../../schema/outcome.ts';
import { baseOf, partitionOf } from '../../schema/partition.ts';
import { forbidden, may, type Principal } from '../../schema/principal.ts';
import type { FileRow } from '../../store/index.ts';
import type { Access } from './access.ts';

/**
 * Finds a file for a principal (openai.md 9.1): its own files, those of threads that it may read, and with `read:all`
 * every file of the scope. Any other file does not exist for it.
 */
export type FileAccess = {
  /** @throws NotFound, Forbidden */
  file(principal: Principal, id: string, right: 'read' | 'write'): FileRow;
  /** Returns a file that the principal may read. */
  find(principal: Principal, id: string): FileRow | undefined;
};

export const createFileAccess = (
  files: { get(id: string): FileRow | undefined },
  { sees }: Pick<Access, 'sees'>,
): FileAccess => {
  const find: FileAccess['find'] = (principal, id) => {
    const row = files.get(id);
    return row && isVisible(principal, row, sees) ? row : undefined;
  };
  return {
    find,
    file(principal, id, right) {
      const row = find(principal, id);
      if (!row) throw unknownFile(id);
      const isFree = right === 'read' || isOwner(principal, row) || may(principal, ['write', 'all']);
      if (!isFree) throw forbidden(['write', 'all'], principal);
      return row;
    },
  };
};

export const unknownFile = (id: string): NotFound => new NotFound(`No such File object: ${id}`);

export const badLink = (): Forbidden => new Forbidden('the link has expired, or its signature is wrong');

const isOwner = (principal: Principal, { scope }: FileRow): boolean => partitionOf(principal) === scope;

const isVisible = (principal: Principal, row: FileRow, sees: Access['sees']): boolean => {
  const { scope, thread_id } = row;
  if (baseOf(scope) !== principal.scope) return false;
  if (isOwner(principal, row) || may(principal, ['read', 'all'])) return true;
  return thread_id !== undefined && sees(principal, { scope, id: thread_id });
};
