import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { isApproval } from '../../tools/decision.ts';
import { type StateUpdate, update } from '../../tools/state.ts';
import type { GatedCall } from '../../tools/tool.ts';
import type { HookContext } from '../plugin.ts';
import { type Behavior, tryCompileRule } from './policy.ts';
import { type GrantedRule, permissionPolicy } from './state.ts';
import { escapeLiteral } from './wildcard.ts';

/**
 * What a decision on a permission ticket says beside yes or no, in its payload:
 *
 *     { "approved": true, "arguments": {…}, "remember": "thread", "pattern": "Bash(git *)" }
 *
 * `arguments` replace those of the call; the tool checks them as it checks the model's. `remember` keeps the
 * decision as a rule: `once` (the default) keeps nothing; `session`, `thread` and `project` keep it in the state of
 * the thread, the widest memory of a decision there is, so all three hold for later runs of this thread. The rule
 * is about the tool, or about `pattern`, which must be about the tool of the call; one that is not, or is not a
 * pattern, is not remembered, and the next call is asked for again.
 */

const Memory = z.object({
  remember: z.enum(['session', 'thread', 'project']),
  pattern: z.string().max(1024).optional(),
});

/** The state with the rule that a decided call leaves behind, when it leaves one. */
export const rememberDecision = (
  { name, decision, changed_at = 0 }: GatedCall,
  { state, now }: Pick<HookContext, 'state' | 'now'>,
  default_behavior: Behavior,
): StateUpdate | undefined => {
  const memory = Memory.safeParse(decision?.result);
  if (!decision || !memory.success) return undefined;
  const { remember, pattern = escapeLiteral(name) } = memory.data;
  const behavior = isApproval(decision) ? 'allow' : 'deny';
  if (!isAbout(pattern, name)) return undefined;
  const rules: readonly GrantedRule[] = state.get(permissionPolicy)?.rules ?? [];
  const known = rules.find((rule) => rule.tool === pattern && rule.behavior === behavior);
  // A rule that is older than the definition of the tool is renewed.
  if (known && known.granted_at >= changed_at) return undefined;
  const rule: GrantedRule = {
    tool: pattern,
    behavior,
    scope: remember,
    decision_id: decision.decision_id,
    ...(decision.reason !== undefined && { reason: decision.reason }),
    granted_at: now(),
  };
  return update(permissionPolicy, {
    default_behavior,
    rules: [...rules.filter((each) => each !== known), rule],
  });
};

const isAbout = (pattern: string, name: string): boolean => {
  const compiled = tryCompileRule({ tool: pattern, behavior: 'allow' });
  return !(compiled instanceof Invalid) && compiled.isAboutTool(name);
};
