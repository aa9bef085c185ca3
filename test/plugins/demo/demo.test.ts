import t from 'tap';
import { BUDGET_STOP_CONDITIONS, budgetStopPlugin } from '../../../src/plugins/demo/budget-stop.ts';
import { frontendToolsPlugin } from '../../../src/plugins/demo/frontend-tools.ts';
import { createPhaseLogger } from '../../../src/plugins/demo/phase-logger.ts';
import { aboutAgent, hookContext } from '../context.ts';

for (const name of ['askUserQuestion', 'set_background_color']) {
  t.test(`a call of ${name} is suspended for the client under its own id`, async (t) => {
    const args = { message: 'Which one?' };
    const { gate } = frontendToolsPlugin.parts(aboutAgent());
    t.same(await gate?.({ id: 'c1', name, arguments: args }, hookContext()), {
      kind: 'suspend',
      ticket: {
        suspension: { id: 'c1', action: `tool:${name}`, parameters: args },
        pending: { id: 'c1', name, arguments: args },
        resume_mode: 'use_decision_as_tool_result',
      },
    });
  });
}

t.test('creates a ticket without parameters for a call without arguments', async (t) => {
  const { gate } = frontendToolsPlugin.parts(aboutAgent());
  const decision = await gate?.({ id: 'c1', name: 'askUserQuestion', arguments: null }, hookContext());
  t.match(decision, { ticket: { suspension: { parameters: undefined }, pending: { arguments: null } } });
});

t.test('lets other calls pass in frontend_tools', async (t) => {
  const { gate } = frontendToolsPlugin.parts(aboutAgent());
  t.same(await gate?.({ id: 'c1', name: 'get_weather', arguments: {} }, hookContext()), { kind: 'proceed' });
});

t.test('logs one line per phase without arguments and results in phase_logger', async (t) => {
  const lines: object[] = [];
  const { hooks } = createPhaseLogger({ log: { info: (_, fields = {}) => lines.push(fields) } }).parts(
    aboutAgent(),
  );
  const context = hookContext({ step_index: 2 });
  const call = { id: 'c1', name: 'get_weather', arguments: { location: 'Tokyo' } };
  const inference = { text: 'secret', calls: [call], usage: undefined, model: 'm' };
  const result = { tool_name: 'get_weather', status: 'success' as const, data: {}, message: null };
  await hooks?.run_start?.(context);
  await hooks?.step_start?.(context);
  await hooks?.before_inference?.(context);
  await hooks?.after_inference?.({ ...context, inference });
  await hooks?.before_tool_execute?.({ ...context, call });
  await hooks?.after_tool_execute?.({ ...context, call, result });
  await hooks?.step_end?.(context);
  await hooks?.run_end?.(context);

  const where = { run_id: 'r1', thread_id: 't1', agent_id: 'a1', step_index: 2 };
  const tool = { call_id: 'c1', tool: 'get_weather' };
  t.same(lines, [
    { phase: 'run_start', ...where },
    { phase: 'step_start', ...where },
    { phase: 'before_inference', ...where },
    { phase: 'after_inference', ...where },
    { phase: 'before_tool_execute', ...where, ...tool },
    { phase: 'after_tool_execute', ...where, ...tool },
    { phase: 'step_end', ...where },
    { phase: 'run_end', ...where },
  ]);
});

t.test('limits tokens, time and errors in budget-stop', async (t) => {
  t.equal(budgetStopPlugin.id, 'budget-stop');
  t.same(budgetStopPlugin.parts(aboutAgent()), { stop_conditions: BUDGET_STOP_CONDITIONS });
  t.same(BUDGET_STOP_CONDITIONS, [
    { type: 'token_budget', max_total: 50_000 },
    { type: 'timeout', seconds: 60 },
    { type: 'consecutive_errors', max: 3 },
  ]);
});
