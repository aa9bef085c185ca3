import type { JsonObject } from '../../../data/guard.ts';
import type { Plugin } from '../../../data/resources.ts';
import { same, sectionsOf } from '../../../data/spec.ts';
import { textsOf, withSection } from '../draft.ts';

/** The plugins of an agent, and their settings: one section for each kind of settings. */

export type Settings = Plugin['config_schemas'][number] & { plugin: string };

/** Plugin enabled; settings kept although the plugin is disabled; or no settings. */
export type SettingsState = 'on' | 'kept' | 'off';

export const settingsOf = (plugins: readonly Plugin[]): Settings[] =>
  plugins.flatMap(({ id, config_schemas: schemas }) =>
    schemas.map((settings) => ({ ...settings, plugin: id })),
  );

export const stateOf = (draft: JsonObject, { plugin, key }: Settings): SettingsState => {
  if (textsOf(draft.plugin_ids).includes(plugin)) return 'on';
  return key in sectionsOf(draft) ? 'kept' : 'off';
};

/** Writes a section; an empty one is removed. */
export const sectionFields = (draft: JsonObject, key: string, section: JsonObject): JsonObject =>
  withSection(draft, key, Object.keys(section).length > 0 ? section : undefined);

/**
 * Enables or disables a plugin. Enabling adds missing default settings. Disabling removes settings that still equal the
 * defaults and keeps all others.
 *
 * @param start the agent as it was opened
 */
export const switched = (
  draft: JsonObject,
  { plugin, isOn, start }: { plugin: Plugin; isOn: boolean; start: JsonObject },
): JsonObject => {
  const others = textsOf(draft.plugin_ids).filter((id) => id !== plugin.id);
  if (!isOn) {
    const own = sectionsOf(draft);
    const untouched = plugin.config_schemas.filter(
      ({ key, default_value: first }) => key in own && !(key in sectionsOf(start)) && same(own[key], first),
    );
    if (untouched.length === 0) return { plugin_ids: others };
    const gone = new Set(untouched.map(({ key }) => key));
    const kept = Object.entries(own).filter(([key]) => !gone.has(key));
    return { plugin_ids: others, sections: Object.fromEntries(kept) };
  }
  const sections = { ...sectionsOf(draft) };
  for (const { key, default_value: first } of plugin.config_schemas) {
    if (!(key in sections) && first && Object.keys(first).length > 0) sections[key] = first;
  }
  return { plugin_ids: [...others, plugin.id], sections };
};

// ---- Active hooks ----

export type HookFilter = {
  /** Empty if all enabled plugins are active. */
  chosen: readonly string[];
  /** Selected although disabled; the service rejects these. */
  stale: readonly string[];
};

export const hookFilterOf = (draft: JsonObject): HookFilter => {
  const [filter, on] = [textsOf(draft.active_hook_filter), textsOf(draft.plugin_ids)];
  return {
    chosen: filter.filter((id) => on.includes(id)),
    stale: filter.filter((id) => !on.includes(id)),
  };
};
