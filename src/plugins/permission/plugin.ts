import { Invalid } from '../../schema/outcome.ts';
import type { StateView } from '../../tools/state.ts';
import { permissionTicket } from '../../tools/tickets.ts';
import type { GatedCall } from '../../tools/tool.ts';
import { definePlugin } from '../define.ts';
import type { HookContext, HookOutcome, Plugin } from '../plugin.ts';
import { rememberDecision } from './decision.ts';
import { createExpiry } from './expiry.ts';
import {
  type Behavior,
  type CompiledRule,
  compileRule,
  evaluateRules,
  tryCompileRule,
  type Verdict,
} from './policy.ts';
import { deniedTools } from './preview.ts';
import { compileSection, permissionSection } from './section.ts';
import { permissionOverrides, permissionPolicy } from './state.ts';

/**
 * Allows, asks for or denies each tool call (agent-loop.md 14.1). Rules come from three sources with equal weight: the
 * current section of the agent, remembered decisions (thread state) and active skills (run state). Tools that are
 * denied regardless of their arguments are not offered to the model.
 *
 * Guarantees: a decision opens one call, with the arguments that the decision contains; a deny rule that matches these
 * arguments still blocks the call.
 */
export const permissionPlugin: Plugin = definePlugin({
  id: 'permission',
  section: permissionSection,
  state: [permissionPolicy],
  create: (section) => {
    const { default_behavior } = section;
    const { rules: ofSection, otherwise } = compileSection(section);
    const rulesFor = (state: StateView, changed_at = 0) => [
      ...ofSection,
      ...granted(state, changed_at),
      ...ofSkills(state),
    ];
    /** Only the section opens a call that others must decide: its rules, or the default if none matches. */
    const judge = (call: GatedCall, { state }: Pick<HookContext, 'state'>): Verdict => {
      const verdict = evaluateRules(rulesFor(state, call.changed_at), otherwise, call);
      if (verdict.behavior !== 'allow') return verdict;
      const own = evaluateRules(ofSection, otherwise, call);
      return own.deciders === 'others' ? own : verdict;
    };
    return {
      gate: (call, context) => {
        const { behavior, rule, deciders } = judge(call, context);
        if (behavior === 'deny') {
          return { kind: 'block', reason: `Tool '${call.name}' denied by permission rules` };
        }
        const isApproved = deciders === 'others' ? call.approved_by_others : call.approved;
        if (behavior === 'allow' || isApproved) return { kind: 'proceed' };
        const expires = createExpiry(rule, context.now());
        const ticket = {
          ...permissionTicket(call),
          ...(deciders === 'others' && { deciders }),
          ...(expires && { expires }),
        };
        return { kind: 'suspend', ticket };
      },
      hooks: {
        before_inference: ({ state, tools }) => ({
          actions: deniedTools(
            rulesFor(state),
            tools().map(({ id }) => id),
          ).map((id) => ({ key: 'runtime.exclude_tool', payload: id })),
        }),
        decided: (context) => remember(context, default_behavior),
      },
    };
  },
});

const remember = (
  context: HookContext & { readonly call: GatedCall },
  otherwise: Behavior,
): HookOutcome | undefined => {
  const change = rememberDecision(context.call, context, otherwise);
  return change && { state: [change] };
};

/** Permission granted for an earlier definition of a tool does not cover its current one. */
const granted = (state: StateView, changed_at: number): CompiledRule[] =>
  (state.get(permissionPolicy)?.rules ?? [])
    .filter(({ behavior, granted_at }) => behavior === 'deny' || granted_at >= changed_at)
    .map(compileRule);

/** Skills may list invalid patterns; these allow nothing. */
const ofSkills = (state: StateView): CompiledRule[] =>
  (state.get(permissionOverrides)?.rules ?? []).flatMap((rule) => {
    const compiled = tryCompileRule(rule);
    return compiled instanceof Invalid ? [] : [compiled];
  });
