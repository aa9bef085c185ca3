import t from 'tap';
import { Conflict } from '../../src/schema/outcome.ts';
import { findTicket, findTicketOfCall, type OpenTicket } from '../../src/tools/find-ticket.ts';
import { issuedBefore } from './issued.ts';

/** runtime.md 12: tickets are never confused. */

const ticket = (ticket_id: string, tool_call_id: string, below: string[] = []): OpenTicket => ({
  ticket_id,
  tool_call_id,
  resume_mode: 'replay_tool_call',
  ...(below.length > 0 && {
    tickets: below.map((id) => ({
      id,
      tool: 'x',
      arguments: {},
      digest: '',
      agent_id: 'a',
      run_id: 'r2',
      resume_mode: 'replay_tool_call' as const,
    })),
  }),
});

const AMBIGUOUS = (id: string) => new Conflict(`'${id}' names more than one call; decide by ticket id`);

t.test('prefers the id of a ticket over that of a call', async (t) => {
  const open = [ticket('perm_perm_A', 'perm_A'), ticket('perm_A', 'A')];
  const issued = issuedBefore(['perm_perm_A', 'perm_A'], ['perm_A', 'A']);
  t.match(findTicket(open, issued, 'perm_A'), { ticket: { tool_call_id: 'A' } });
  t.match(findTicket(open, issued, 'A'), { ticket: { tool_call_id: 'A' } });
  t.match(findTicketOfCall(open, issued, 'perm_A'), { ticket: { tool_call_id: 'perm_A' } });
});

t.test('finds the only ticket of a call by the call id', async (t) => {
  const open = [ticket('perm_c', 'c')];
  t.match(findTicket(open, issuedBefore(['perm_c'], ['c']), 'c'), { ticket: { ticket_id: 'perm_c' } });
  t.equal(findTicket(open, issuedBefore(['perm_c'], ['c']), 'd'), undefined);
  t.equal(findTicket([], issuedBefore(['perm_c'], ['c']), 'c'), undefined, 'the call has no open ticket');
});

t.test('rejects a call id that had an earlier ticket', async (t) => {
  const open = [ticket('perm_c~1', 'c')];
  const issued = issuedBefore(['perm_c', 'perm_c~1'], ['c', 'c']);
  t.throws(() => findTicket(open, issued, 'c'), AMBIGUOUS('c'));
  t.equal(findTicket(open, issued, 'perm_c'), undefined, 'the first ticket of the call is already decided');
  t.match(findTicket(open, issued, 'perm_c~1'), { ticket: { ticket_id: 'perm_c~1' } });
});

t.test('rejects a call id with two open tickets', async (t) => {
  const open = [ticket('perm_c', 'c'), ticket('perm_c~1', 'c')];
  t.throws(() => findTicket(open, issuedBefore([], []), 'c'), AMBIGUOUS('c'));
});

t.test('finds a ticket below a delegating call by its id', async (t) => {
  const open = [ticket('delegate_run:r2', 'd', ['perm_w', 'perm_n'])];
  const found = findTicket(open, issuedBefore([], []), 'perm_n');
  t.match(found, { ticket: { tool_call_id: 'd' }, below: { id: 'perm_n' } });
  t.equal(
    findTicket(open, issuedBefore(['perm_n'], []), 'perm_n'),
    undefined,
    'an id that the thread issued is not found below a call',
  );
});

t.test('rejects an id that two delegating calls list', async (t) => {
  const open = [ticket('delegate_run:r2', 'd', ['perm_w']), ticket('delegate_run:r3', 'e', ['perm_w'])];
  t.throws(() => findTicket(open, issuedBefore([], []), 'perm_w'), AMBIGUOUS('perm_w'));
});

t.test('rejects an id that is both listed and that of a call', async (t) => {
  const open = [ticket('delegate_run:r2', 'd', ['c']), ticket('perm_c', 'c')];
  t.throws(() => findTicket(open, issuedBefore([], []), 'c'), AMBIGUOUS('c'));
});
