import { Invalid } from '../schema/outcome.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { StateKey } from '../tools/state.ts';
import type { Plugin, PluginAbout, PluginParts, Section } from './plugin.ts';

/**
 * Defines a plugin with at most one section. `config` is the section of the agent, with the defaults of the schema
 * filled in; a missing section is parsed as `{}`.
 *
 * @throws Error when an agent lists the plugin with an invalid section
 * @example
 * ```ts
 * const greeter = definePlugin({
 *   id: 'greeter',
 *   section: { key: 'greeter', schema: z.strictObject({ name: z.string().default('friend') }) },
 *   create: ({ name }) => ({
 *     hooks: {
 *       before_inference: () => ({
 *         actions: [
 *           {
 *             key: 'runtime.add_context_message',
 *             payload: { key: 'greeter', target: 'system', content: `Call the user ${name}.` },
 *           },
 *         ],
 *       }),
 *     },
 *   }),
 * });
 * ```
 */
export const definePlugin = <Config = undefined>(definition: {
  id: string;
  section?: Section<Config>;
  state?: readonly StateKey<unknown>[];
  offers?: readonly ToolDescriptor[];
  create(config: Config, about: PluginAbout): PluginParts;
}): Plugin => {
  const { id, section, state = [], offers, create } = definition;
  return {
    id,
    sections: section ? [section] : [],
    state,
    ...(offers && { offers }),
    // Without a section, Config is undefined.
    parts: (about) =>
      create(
        section ? parseConfig(id, section, about.agent.sections[section.key]) : (undefined as Config),
        about,
      ),
  };
};

/** @throws Invalid */
export const parseConfig = <Config>(id: string, section: Section<Config>, given: unknown): Config => {
  const parsed = section.schema.safeParse(given ?? {}, phrases);
  if (parsed.success) return parsed.data;
  const reason = describeIssues(parsed.error);
  throw new Invalid(`invalid config for plugin ${id}: section "${section.key}" — ${reason}`);
};
