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
    const rulesFor = (context: Rights, tool?: Pick<GatedCall, 'name' | 'changed_at'>) => [
      ...ofSection,
      ...granted(context, tool),
      ...ofSkills(context.state),
    ];
    /** Only the section opens a call that others must decide: its rules, or the default if none matches. */
    const judge = (call: GatedCall, context: Rights): Verdict => {
      const verdict = evaluateRules(rulesFor(context, call), otherwise, call);
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
        before_inference: ({ tools, ...context }) => ({
          actions: deniedTools(
            rulesFor(context),
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

type Rights = Pick<HookContext, 'state' | 'user' | 'mayDecide'>;

/**
 * Returns the remembered rules that count. A denial always does. An approval counts in runs of the user for whom it was
 * given, while its author may decide calls of the tool, and not for a later definition of the tool.
 */
const granted = (
  { state, user, mayDecide }: Rights,
  tool?: Pick<GatedCall, 'name' | 'changed_at'>,
): CompiledRule[] =>
  (state.get(permissionPolicy)?.rules ?? [])
    .filter(
      (rule) =>
        rule.behavior === 'deny' ||
        (rule.granted_at >= (tool?.changed_at ?? 0) &&
          rule.user === user &&
          (!rule.author || !tool || !mayDecide || mayDecide(rule.author, tool.name))),
    )
    .map(compileRule);

/** Skills may list invalid patterns; these allow nothing. */
const ofSkills = (state: StateView): CompiledRule[] =>
  (state.get(permissionOverrides)?.rules ?? []).flatMap((rule) => {
    const compiled = tryCompileRule(rule);
    return compiled instanceof Invalid ? [] : [compiled];
  });
