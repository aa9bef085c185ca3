import t from 'tap';
import { countWrites, type WrittenRow } from '../store/count-writes.ts';
import { eventually } from './troupe.ts';
import { withUsers } from './users.ts';

/** Rows that the commits of a run write, with and without an owner. */

const counter = countWrites();
t.teardown(counter.stop);

/** The rows of a run of one round on a new thread, and the most bytes of their keys and values. */
const EXPECTED = [
  { of: 'a run without an owner', owner: undefined, rows: 35, mostBytes: 6500 },
  { of: 'a run with an owner', owner: 'alice', rows: 49, mostBytes: 8000 },
];

t.test('writes a limited number of rows for a run', async (t) => {
  const service = await withUsers(t);

  const writtenBy = async (headers: Record<string, string>): Promise<WrittenRow[]> => {
    counter.take();
    const body = { agentId: 'echo', messages: [{ role: 'user', content: 'Hello' }] };
    const { status } = await service.call('POST', '/v1/runs', body, headers);
    t.equal(status, 200);
    const rows: WrittenRow[] = [];
    // The row of the ended dispatch is part of the last commit, which may follow the response.
    await eventually(
      async () => rows.push(...counter.take()),
      () => rows.some(({ table }) => table === 'ended_work'),
    );
    return rows;
  };

  for (const { of, owner, rows, mostBytes } of EXPECTED) {
    const headers = owner === undefined ? {} : service.user(owner).head;
    await writtenBy(headers);
    const written = await writtenBy(headers);
    t.equal(written.length, rows, `rows of ${of}`);
    const bytes = written.reduce((sum, row) => sum + row.bytes, 0);
    t.ok(bytes <= mostBytes, `${bytes} bytes of ${of}`);
  }
});
