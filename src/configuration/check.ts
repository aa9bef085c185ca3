import { stopConditionError } from '../plugins/stop/conditions.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { Invalid } from '../schema/outcome.ts';
import { hasUserInfo } from '../schema/web-address.ts';
import { toolRuleIssues } from '../tools/tool-rules.ts';

/**
 * Checks the rules for agents beyond their schema that do not depend on other entries (agent-loop.md 1.3, 1.4).
 *
 * @throws Invalid
 */
export const checkAgent = (spec: AgentSpec, surface = 'agent spec'): void => {
  const broken = toolRuleIssues(spec).filter(({ severity }) => severity === 'error');
  if (broken.length > 0) {
    const messages = broken.map(({ message }) => message).join('; ');
    throw new Invalid(`agent spec '${spec.id}' has invalid tool catalog: ${messages}`);
  }
  if (spec.endpoint && hasUserInfo(spec.endpoint.base_url)) {
    throw new Invalid(
      "invalid remote endpoint config: base_url must not contain user info: give a token in 'auth'",
    );
  }
  const stop = stopConditionError(spec.stop_conditions);
  if (stop !== undefined) throw new Invalid(`invalid ${surface}: ${stop}`);
};
