import type { AccessDraft, AccessEvent } from '../../schema/access-event.ts';

/**
 * Combines equal denials of a principal or an address within a minute into one event with a count.
 *
 * Guarantees: at most `MOST_EACH` events of one principal or address, and `MOST` of all, in any minute twice over. Further
 * denials are counted in one event without route, and beyond `MOST` in one without address, so that a flood of denials
 * neither fills the disk nor hides how large it is.
 * Cost: two writes per event: when it begins, and when its minute is over or the log is read.
 */
export type Denials = {
  add(draft: AccessDraft): void;
  /** Writes the counts that have changed. */
  flush(): void;
};

const MINUTE_MS = 60_000;
const MOST_EACH = 10;
const MOST = 1000;

type Row = { event: AccessEvent; subject: string; isWritten: boolean; ends: number };

export const createDenials = ({
  now,
  create,
  write,
}: {
  now(): number;
  create(draft: AccessDraft): AccessEvent;
  write(event: AccessEvent): void;
}): Denials => {
  /** In the order of their ends, because all last equally long. */
  const rows = new Map<string, Row>();
  const sizes = new Map<string, number>();

  const save = (row: Row): void => {
    if (row.isWritten) return;
    row.isWritten = true;
    write({ ...row.event });
  };

  const endRows = (): void => {
    for (const [key, row] of rows) {
      if (row.ends > now()) return;
      save(row);
      rows.delete(key);
      const size = (sizes.get(row.subject) ?? 1) - 1;
      if (size > 0) sizes.set(row.subject, size);
      else sizes.delete(row.subject);
    }
  };

  const choose = (draft: AccessDraft): { key: string; subject: string; draft: AccessDraft } => {
    const subject = subjectOf(draft);
    const key = JSON.stringify([subject, draft.route, draft.reason]);
    if (rows.has(key) || (rows.size < MOST && (sizes.get(subject) ?? 0) < MOST_EACH - 1))
      return { key, subject, draft };
    const { route: _, reason: __, thread_id: ___, run_id: ____, ...rest } = draft;
    if (rows.has(subject) || rows.size < MOST)
      return { key: subject, subject, draft: { ...rest, reason: 'further denials' } };
    return { key: '', subject: '', draft: { kind: draft.kind, reason: 'denials of further clients' } };
  };

  return {
    add(given) {
      endRows();
      const { key, subject, draft } = choose(given);
      const row = rows.get(key);
      if (row) {
        row.event.count += 1;
        row.isWritten = false;
        return;
      }
      const begun = { event: create(draft), subject, isWritten: false, ends: now() + MINUTE_MS };
      rows.set(key, begun);
      sizes.set(subject, (sizes.get(subject) ?? 0) + 1);
      save(begun);
    },
    flush() {
      endRows();
      for (const row of rows.values()) save(row);
    },
  };
};

/** Requests without an accepted credential are distinguished by their address. */
const subjectOf = ({ scope, user, credential, ip }: AccessDraft): string =>
  credential === undefined || credential.kind === 'anonymous'
    ? JSON.stringify([ip])
    : JSON.stringify([scope, user, credential.kind, credential.id]);
