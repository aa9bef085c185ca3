import t from 'tap';
import { z } from 'zod';
import { permissionPlugin } from '../../../src/plugins/permission/plugin.ts';
import { permissionOverrides, permissionPolicy } from '../../../src/plugins/permission/state.ts';
import type { HookContext } from '../../../src/plugins/plugin.ts';
import type { Resume } from '../../../src/schema/activation.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import { update } from '../../../src/tools/state.ts';
import type { GatedCall, Json } from '../../../src/tools/tool.ts';
import { editedArguments, isApproval } from '../../../src/tools/verdict.ts';
import { aboutAgent, hookContext, stateStore } from '../context.ts';

const partsOf = (section?: Json) =>
  permissionPlugin.parts(aboutAgent(section === undefined ? {} : { permission: section }));

const callOf = (name: string, args: Json, decision?: Resume): GatedCall => ({
  id: 'c1',
  name,
  // The loop passes the executed arguments to gates.
  arguments: editedArguments(decision) ?? args,
  ...(decision && { decision }),
  ...(isApproval(decision) && { approved: true }),
});

const gate = async (section: Json | undefined, call: GatedCall, context = hookContext()) =>
  partsOf(section).gate?.(call, context);

const approval = (result: Json = { approved: true }): Resume => ({
  decision_id: 'd1',
  action: 'resume',
  result,
  updated_at: 1,
});

const weather = (decision?: Resume) => callOf('get_weather', { location: 'Tokyo' }, decision);
const rules = (...given: Json[]): Json => ({ rules: given });
const BLOCKED = { kind: 'block', reason: "Tool 'get_weather' denied by permission rules" };
const PROCEED = { kind: 'proceed' };

const TICKET = {
  kind: 'suspend',
  ticket: {
    suspension: {
      id: 'perm_c1',
      action: 'tool:PermissionConfirm',
      message: "Permission required for tool 'get_weather'",
      parameters: { location: 'Tokyo' },
    },
    pending: { id: 'perm_c1', name: 'permission_confirm', arguments: { location: 'Tokyo' } },
    resume_mode: 'replay_tool_call',
  },
};

t.test('asks for approval of every call without a section', async (t) => {
  t.strictSame(await gate(undefined, weather()), TICKET);
  t.strictSame(await gate({}, weather()), TICKET);
});

t.test('asks for no approval of calls that a glob allows', async (t) => {
  t.strictSame(await gate(rules({ tool: 'get_*', behavior: 'allow' }), weather()), PROCEED);
});

t.test('blocks a denied call with the reason', async (t) => {
  t.strictSame(await gate(rules({ tool: 'get_weather', behavior: 'deny' }), weather()), BLOCKED);
  t.strictSame(await gate({ default_behavior: 'deny' }, weather()), BLOCKED);
});

t.test('limits an allow rule to its arguments', async (t) => {
  const section = (tool: string): Json => ({
    default_behavior: 'deny',
    rules: [{ tool, behavior: 'allow' }],
  });
  t.strictSame(await gate(section('get_weather(location = "Tokyo")'), weather()), PROCEED);
  t.strictSame(await gate(section('get_weather(location = "Paris")'), weather()), BLOCKED);
  t.strictSame(await gate(section('get_weather(location != "Paris")'), weather()), PROCEED);
  t.strictSame(await gate(section('get_weather(city != "Paris")'), weather()), BLOCKED);
});

t.test('prefers deny on a glob over allow on the tool', async (t) => {
  const section = rules({ tool: 'get_weather', behavior: 'allow' }, { tool: 'get_*', behavior: 'deny' });
  t.strictSame(await gate(section, weather()), BLOCKED);
});

t.test('proceeds with an approved call, unless it is denied now', async (t) => {
  t.strictSame(await gate({}, weather(approval())), PROCEED);
  t.strictSame(await gate({}, weather(approval(null))), PROCEED);
  t.strictSame(await gate(rules({ tool: '*', behavior: 'deny' }), weather(approval())), BLOCKED);
});

t.test('blocks a call without a valid approval', async (t) => {
  t.strictSame(await gate({}, weather(approval({ approved: false }))), TICKET);
  t.strictSame(await gate({}, weather({ ...approval(), action: 'cancel' })), TICKET);
});

t.test('applies a deny rule to edited arguments', async (t) => {
  const section = rules({ tool: 'get_weather(location = "Paris")', behavior: 'deny' });
  const edited = (location: string) => approval({ approved: true, arguments: { location } });
  t.strictSame(await gate(section, weather(edited('Paris'))), BLOCKED);
  t.strictSame(await gate(section, weather(edited('Rome'))), PROCEED);
});

t.test('takes the expiry of a ticket from the rule that asks', async (t) => {
  const section = rules(
    { tool: '*', behavior: 'ask', timeout_secs: 5 },
    { tool: 'get_weather', behavior: 'ask', timeout_secs: 60, on_timeout: 'approve' },
  );
  const at = hookContext().now();
  t.strictSame(await gate(section, weather()), {
    ...TICKET,
    ticket: { ...TICKET.ticket, expires: { at: at + 60_000, outcome: 'resume' } },
  });
  t.match(await gate(section, callOf('other', {})), {
    ticket: { expires: { at: at + 5000, outcome: 'cancel' } },
  });
});

const stateful = (): { context: HookContext } & ReturnType<typeof stateStore> => {
  const store = stateStore();
  return { ...store, context: hookContext({ state: store.view }) };
};

t.test('applies a remembered decision to the next call', async (t) => {
  const { context, view, apply } = stateful();
  const { hooks, gate } = partsOf();
  const decision = approval({ approved: true, remember: 'thread' });
  const outcome = await hooks?.decided?.({ ...context, call: { ...weather(), decision } });
  apply(outcome?.state);
  t.strictSame(await gate?.(weather(), context), PROCEED);
  t.match(await gate?.(callOf('other', {}), context), { kind: 'suspend' });
  t.equal(view.get(permissionPolicy)?.rules.length, 1);
  const once = { ...weather(approval()), decision: approval() };
  t.equal(await hooks?.decided?.({ ...context, call: once }), undefined);
});

t.test('does not store rules of the section in the state', async (t) => {
  const { context, view, apply } = stateful();
  const { hooks, gate } = partsOf(rules({ tool: 'get_*', behavior: 'deny' }));
  await gate?.(weather(), context);
  apply((await hooks?.before_inference?.(context))?.state);
  t.equal(view.get(permissionPolicy), undefined);
  t.strictSame(
    await partsOf().gate?.(weather(), context),
    TICKET,
    'the call is not allowed once the rule is removed from the spec',
  );
});

t.test('applies allow rules of a skill, and still prefers deny rules', async (t) => {
  const { context, apply } = stateful();
  const allowed = ['/(/', '[z-a]*', 'get_*'].map((tool) => ({ tool, behavior: 'allow' as const }));
  apply([update(permissionOverrides, { rules: allowed })]);
  t.strictSame(await partsOf().gate?.(weather(), context), PROCEED);
  const denied = partsOf(rules({ tool: 'get_weather', behavior: 'deny' }));
  t.strictSame(await denied.gate?.(weather(), context), BLOCKED);
});

const tool = (id: string): ToolDescriptor => ({
  id,
  name: id,
  description: '',
  parameters: {},
  category: null,
});

t.test('removes tools that are denied for all arguments before an inference', async (t) => {
  const { context, apply } = stateful();
  const section = rules(
    { tool: 'failingTool', behavior: 'deny' },
    { tool: 'delete_*', behavior: 'deny' },
    { tool: '/_secret$/', behavior: 'deny' },
    { tool: 'Any(*)', behavior: 'deny' },
    { tool: 'Bash(rm *)', behavior: 'deny' },
    { tool: 'delete_note', behavior: 'allow' },
  );
  const ids = ['failingTool', 'delete_note', 'get_secret', 'Any', 'Bash', 'get_weather', 'mail'];
  const offered = { ...context, tools: () => ids.map(tool) };
  apply([
    update(permissionPolicy, {
      default_behavior: 'deny',
      rules: [{ tool: 'mail', behavior: 'deny', scope: 'thread', decision_id: 'd', granted_at: 1 }],
    }),
  ]);
  const outcome = await partsOf(section).hooks?.before_inference?.(offered);
  t.strictSame(
    outcome?.actions,
    ['failingTool', 'delete_note', 'get_secret', 'Any', 'mail'].map((payload) => ({
      key: 'runtime.exclude_tool',
      payload,
    })),
  );
});

const refused: [section: Json, complaint: RegExp][] = [
  [{ default_behavior: 'maybe' }, /^invalid config for plugin permission: section "permission" — default_b/],
  [{ rules: [{ tool: 'x' }] }, /rules\[0\]\.behavior/],
  [{ rules: [{ tool: '', behavior: 'deny' }] }, /rules\[0\]\.tool: pattern is empty/],
  [{ rules: [{ tool: '/(/', behavior: 'deny' }] }, /rules\[0\]\.tool: regex "\(" is not valid/],
  [{ rules: [{ tool: 'a(b = "c)', behavior: 'deny' }] }, /rules\[0\]\.tool: pattern .* at character 7/],
  [{ rules: [{ tool: 'x', behavior: 'deny', scope: 'galaxy' }] }, /rules\[0\]\.scope/],
  [
    { rules: [{ tool: 'x', behavior: 'deny', timeout_secs: 5 }] },
    /rules\[0\]\.timeout_secs: only a rule with/,
  ],
  [{ rules: [{ tool: 'x', behavior: 'ask', timeout_secs: 0 }] }, /rules\[0\]\.timeout_secs/],
  [
    { rules: [{ tool: 'x', behavior: 'ask', on_timeout: 'deny' }] },
    /rules\[0\]\.on_timeout: needs timeout_secs/,
  ],
];
for (const [section, complaint] of refused) {
  t.test(`rejects the section ${JSON.stringify(section)}`, async (t) => {
    t.throws(() => partsOf(section), { name: 'Invalid', message: complaint });
  });
}

t.test('describes its section for clients', async (t) => {
  const [section] = permissionPlugin.sections;
  if (!section) return t.fail('no section');
  t.match(section, {
    key: 'permission',
    display_name: 'Permissions',
    category: 'safety',
    editor: 'permission',
    default_value: { default_behavior: 'ask', rules: [] },
  });
  t.match(z.toJSONSchema(section.schema, { io: 'input' }), {
    type: 'object',
    properties: {
      default_behavior: { enum: ['allow', 'ask', 'deny'], default: 'ask' },
      rules: {
        type: 'array',
        items: {
          type: 'object',
          required: ['tool', 'behavior'],
          properties: {
            tool: { type: 'string' },
            behavior: { enum: ['allow', 'ask', 'deny'] },
            scope: { enum: ['once', 'session', 'thread', 'project', 'user'], default: 'project' },
          },
        },
      },
    },
  });
});
