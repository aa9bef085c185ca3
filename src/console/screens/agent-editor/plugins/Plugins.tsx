import { useMemo } from 'react';
import { list, object, optional, text } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { recordsOf } from '../../../data/records.ts';
import type { Plugin } from '../../../data/resources.ts';
import { sectionOf } from '../../../data/spec.ts';
import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Icon } from '../../../design/Icon.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useQueryState } from '../../../list/use-query-state.ts';
import { type SeenProps, unreadAt, useForm } from '../../../schema-form/context.ts';
import { wordsFrom } from '../../../schema-form/hints.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { textsOf, withSection } from '../draft.ts';
import { Resettable } from '../Resettable.tsx';
import { type Settings, settingsOf, stateOf, switched } from './plugin-settings.ts';
import { Section } from './Section.tsx';
import texts from './texts.json' with { type: 'json' };

/** The plugins of an agent, each with its settings below it. */

const AGENTS = recordsOf('agents', object({ id: text, plugin_ids: optional(list(text)) }));

/** Number of agents that use each plugin. */
const useCounts = (): ReadonlyMap<string, number> => {
  const agents = useResource(AGENTS).data;
  return useMemo(() => {
    const counts = new Map<string, number>();
    for (const id of (agents ?? []).flatMap(({ plugin_ids: ids = [] }) => ids))
      counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }, [agents]);
};

/** The button that opens the settings of an enabled plugin, or the settings that a disabled one keeps. */
const SettingsButton = ({ settings }: { settings: Settings }) => {
  const t = useTexts(texts);
  const nameIn = wordsFrom(t, texts, (key) => `name.${key}`);
  const [{ section: opened }, setQuery] = useQueryState();
  const { draft, set } = useAgent().form;
  const { key } = settings;
  const state = stateOf(draft, settings);
  if (state === 'off') return null;
  if (state === 'kept') {
    return (
      <>
        <Chip tone="warn">{t('kept')}</Chip>
        <Button small tone="quiet" onClick={() => set(withSection(draft, key, undefined))}>
          {t('kept.remove')}
        </Button>
      </>
    );
  }
  const isOpen = opened === key;
  const { rules } = sectionOf(draft, key);
  return (
    <Button
      small
      aria-expanded={isOpen}
      aria-controls={isOpen ? `settings-${key}` : undefined}
      onClick={() => setQuery({ section: isOpen ? undefined : key })}
    >
      {nameIn(key) ?? (settings.display_name || key)}
      {Array.isArray(rules) && <span className="quiet cut">{t('rules', { count: rules.length })}</span>}
      <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={14} />
    </Button>
  );
};

const Row = ({ plugin, count }: { plugin: Plugin; count: number }) => {
  const t = useTexts(texts);
  const aboutIn = wordsFrom(t, texts, (id) => `about.${id}`);
  const [{ section }] = useQueryState();
  const { form, capabilities } = useAgent();
  const { opened, draft, unread, onUnread } = form;
  const isOn = textsOf(draft.plugin_ids).includes(plugin.id);
  const isGone = capabilities.plugins.every(({ id }) => id !== plugin.id);
  const all = settingsOf([plugin]);
  const shown = all.find(({ key }) => key === section);
  const toggle = (isWanted: boolean): void => {
    for (const { key } of all)
      for (const field of unreadAt(unread, `sections.${key}`)) onUnread(field, undefined);
    form.set(switched(draft, { plugin, isOn: isWanted, start: opened.start }));
  };
  return (
    <li>
      <div className={css.plugin}>
        <label className={css.tool}>
          <input
            type="checkbox"
            className={boxLook}
            checked={isOn}
            onChange={({ target }) => toggle(target.checked)}
          />
          <span className="mono">{plugin.id}</span>
        </label>
        {isGone && <Chip tone="error">{t('gone')}</Chip>}
        <span className={css.pluginAbout}>
          {aboutIn(plugin.id) ?? (plugin.description || all.map(({ description }) => description).join(' '))}
        </span>
        {count > 0 && <span className="quiet">{t('count', { count })}</span>}
        {all.map((settings) => (
          <SettingsButton key={settings.key} settings={settings} />
        ))}
      </div>
      {isOn && shown && (
        <div id={`settings-${shown.key}`}>
          <Section settings={shown} />
        </div>
      )}
    </li>
  );
};

/** A widget for the enabled plugins, which also changes their settings. */
export default function Plugins({ path, value }: SeenProps) {
  const t = useTexts(texts);
  const { capabilities } = useAgent();
  const { errors } = useForm();
  const counts = useCounts();
  const on = textsOf(value);
  const { plugins } = capabilities;
  const gone = on.filter((id) => plugins.every((plugin) => plugin.id !== id));
  const rows = [...plugins, ...gone.map((id) => ({ id, description: '', config_schemas: [] }))];
  const error = errors.get(path) ?? errors.get('sections');
  return (
    <Resettable field="sections">
      <Card title={t('title')} note={t('title.count', { on: on.length, all: plugins.length })} flush>
        <ul className="divided">
          {rows.map((plugin) => (
            <Row key={plugin.id} plugin={plugin} count={counts.get(plugin.id) ?? 0} />
          ))}
        </ul>
        {error && <p className="quiet bad">{error}</p>}
      </Card>
    </Resettable>
  );
}
