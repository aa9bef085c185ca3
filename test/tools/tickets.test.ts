import t from 'tap';
import { Ticket } from '../../src/schema/run-event.ts';
import { clientTicket, permissionTicket } from '../../src/tools/tickets.ts';

/** runtime.md 6.4, agent-loop.md 7.2. */

const call = { id: 'call_1', name: 'send_mail', arguments: { to: 'a@b' } };

t.test('creates a permission ticket with the arguments of the call', async (t) => {
  t.strictSame(permissionTicket(call), {
    suspension: {
      id: 'perm_call_1',
      action: 'tool:PermissionConfirm',
      message: "Permission required for tool 'send_mail'",
      parameters: { to: 'a@b' },
    },
    pending: { id: 'perm_call_1', name: 'permission_confirm', arguments: { to: 'a@b' } },
    resume_mode: 'replay_tool_call',
  });
});

t.test('creates a client ticket with the unchanged call', async (t) => {
  t.strictSame(clientTicket(call), {
    suspension: {
      id: 'suspend_call_1',
      action: 'tool:send_mail',
      message: "Frontend tool 'send_mail' requires client execution",
      parameters: { to: 'a@b' },
    },
    pending: { id: 'call_1', name: 'send_mail', arguments: { to: 'a@b' } },
    resume_mode: 'use_decision_as_tool_result',
  });
});

for (const ticketOf of [permissionTicket, clientTicket]) {
  t.test(`${ticketOf.name} omits null parameters and keeps every other value`, async (t) => {
    t.notOk('parameters' in ticketOf({ ...call, arguments: null }).suspension);
    for (const given of [false, 0, '', []]) {
      t.strictSame(ticketOf({ ...call, arguments: given }).suspension.parameters, given);
    }
  });

  t.test(`${ticketOf.name} creates tickets in the form of the wire`, async (t) => {
    t.strictSame(Ticket.parse(ticketOf(call)), ticketOf(call));
  });
}
