import { useMemo } from 'react';
import { list, object, optional, text } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { recordsOf } from '../../../data/records.ts';
import type { Plugin } from '../../../data/resources.ts';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useQueryState } from '../../../list/use-query-state.ts';
import { unreadAt } from '../../../schema-form/context.ts';
import { textsOf } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import type { PanelProps } from '../panel.ts';
import { HookFilter } from './HookFilter.tsx';
import css from './Plugins.module.css';
import { switched } from './settings.ts';
import { texts } from './texts.ts';
import { useNames } from './use-names.ts';
import { Workspace } from './Workspace.tsx';

/** What an agent is extended with, and what each of these is told. */

const AGENTS = recordsOf('agents', object({ id: text, plugin_ids: optional(list(text)) }));

/** How many agents have each of them. */
const useCounts = (): ReadonlyMap<string, number> => {
  const agents = useResource(AGENTS).data;
  return useMemo(() => {
    const counts = new Map<string, number>();
    for (const id of (agents ?? []).flatMap(({ plugin_ids: ids = [] }) => ids))
      counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }, [agents]);
};

const NOTHING: Omit<Plugin, 'id'> = { description: '', config_schemas: [] };

const Row = (props: {
  plugin: Plugin;
  count: number;
  isOn: boolean;
  isGone: boolean;
  onSwitch: (isOn: boolean) => void;
}) => {
  const t = useTexts(texts);
  const nameOf = useNames();
  const { plugin, count, isOn } = props;
  const { description, config_schemas: schemas } = plugin;
  return (
    <li className={css.plugin}>
      <label className={css.name}>
        <input
          type="checkbox"
          className={boxLook}
          checked={isOn}
          onChange={(event) => props.onSwitch(event.target.checked)}
        />
        <span className={css.mono}>{plugin.id}</span>
      </label>
      <span className={css.about}>
        {description || schemas.map((settings) => nameOf(settings).about).join(' ')}
      </span>
      {props.isGone && <Chip tone="error">{t('gone')}</Chip>}
      {schemas.length > 0 && <Chip>{t('settings')}</Chip>}
      <span className={css.count}>{t('count', { count })}</span>
    </li>
  );
};

export const Plugins = (panel: PanelProps) => {
  const t = useTexts(texts);
  const { draft, change, capabilities, errors } = panel;
  const counts = useCounts();
  const [, setQuery] = useQueryState();
  const on = textsOf(draft.plugin_ids);
  const { plugins } = capabilities;
  const gone = on.filter((id) => plugins.every((plugin) => plugin.id !== id));
  const error = errors.get('plugin_ids');
  const rows = [...plugins, ...gone.map((id) => ({ id, ...NOTHING }))];
  const put = (plugin: Plugin, isOn: boolean): void => {
    for (const { key } of plugin.config_schemas)
      for (const field of unreadAt(panel.unread, `sections.${key}`)) panel.onUnread(field, undefined);
    change(switched(draft, { plugin, isOn, start: panel.start }));
    const [first] = plugin.config_schemas;
    if (first) setQuery({ section: first.key });
  };
  return (
    <>
      <Resettable field="plugin_ids">
        <Card title={t('title')} note={t('title.count', { on: on.length, all: plugins.length })} flush>
          <ul className={css.plugins}>
            {rows.map((plugin) => (
              <Row
                key={plugin.id}
                plugin={plugin}
                count={counts.get(plugin.id) ?? 0}
                isOn={on.includes(plugin.id)}
                isGone={gone.includes(plugin.id)}
                onSwitch={(isOn) => put(plugin, isOn)}
              />
            ))}
          </ul>
          {error && <p className={css.wrong}>{error}</p>}
          <Workspace panel={panel} />
        </Card>
      </Resettable>
      <HookFilter {...panel} />
    </>
  );
};
