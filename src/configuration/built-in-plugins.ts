import { backgroundTasksPlugin } from '../plugins/background/plugin.ts';
import { deferredToolsPlugin } from '../plugins/deferred-tools/plugin.ts';
import { budgetStopPlugin } from '../plugins/demo/budget-stop.ts';
import { frontendToolsPlugin } from '../plugins/demo/frontend-tools.ts';
import { createPhaseLogger, type PhaseLog } from '../plugins/demo/phase-logger.ts';
import { generativeUiPlugin } from '../plugins/generative-ui/plugin.ts';
import { observabilityPlugin } from '../plugins/observability.ts';
import { permissionPlugin } from '../plugins/permission/plugin.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { DEMO_REMINDERS } from '../plugins/reminder/demo-rules.ts';
import { createReminderPlugin } from '../plugins/reminder/plugin.ts';
import { createSkillsPlugins } from '../plugins/skills/plugin.ts';
import type { SkillSource } from '../plugins/skills/source.ts';

/** Returns the plugins that agents may use without any installation (agent-loop.md 18.3). */
export const builtInPlugins = ({ log, skills }: { log: PhaseLog; skills: SkillSource }): Plugin[] => [
  permissionPlugin,
  generativeUiPlugin,
  deferredToolsPlugin,
  frontendToolsPlugin,
  createReminderPlugin({ builtIn: DEMO_REMINDERS }),
  createPhaseLogger({ log }),
  budgetStopPlugin,
  observabilityPlugin,
  backgroundTasksPlugin,
  ...createSkillsPlugins(skills),
];
