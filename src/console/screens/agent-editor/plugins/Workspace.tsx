import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { Notice } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useQueryState } from '../../../list/use-query-state.ts';
import { textsOf, withSection } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import type { PanelProps } from '../panel.ts';
import css from './Plugins.module.css';
import { Section } from './Section.tsx';
import { type Settings, type SettingsState, sectionOf, settingsOf, stateOf, switched } from './settings.ts';
import { texts } from './texts.ts';
import { useNames } from './use-names.ts';

/** Settings of plugins: all that there are at the left, the chosen one beside them. */

const TONES: Readonly<Record<SettingsState, 'success' | 'warn' | undefined>> = {
  on: 'success',
  kept: 'warn',
  off: undefined,
};

const useSummary = (panel: PanelProps): ((settings: Settings) => string) => {
  const t = useTexts(texts);
  return ({ key }) => {
    const section = sectionOf(panel.draft, key);
    const count = Object.keys(section).length;
    if (count === 0) return t('summary.none');
    if (Array.isArray(section.rules)) return t('summary.rules', { count: section.rules.length });
    return t('summary.set', { count });
  };
};

const Off = ({ settings, state, panel }: { settings: Settings; state: SettingsState; panel: PanelProps }) => {
  const t = useTexts(texts);
  const { draft, change, capabilities } = panel;
  const turnOn = (): void => {
    const plugin = capabilities.plugins.find(({ id }) => id === settings.plugin);
    if (plugin) change(switched(draft, { plugin, isOn: true, start: panel.start }));
  };
  return (
    <Notice
      title={t(state === 'kept' ? 'kept.title' : 'off.title', { plugin: settings.plugin })}
      actions={
        <>
          <Button small onClick={turnOn}>
            {t('turnOn')}
          </Button>
          {state === 'kept' && (
            <Button small tone="quiet" onClick={() => change(withSection(draft, settings.key, undefined))}>
              {t('kept.remove')}
            </Button>
          )}
        </>
      }
    >
      {state === 'kept' && t('kept.text')}
    </Notice>
  );
};

export const Workspace = ({ panel }: { panel: PanelProps }) => {
  const t = useTexts(texts);
  const [{ section: wanted }, setQuery] = useQueryState();
  const summary = useSummary(panel);
  const nameOf = useNames();
  const { draft, capabilities } = panel;
  const all = settingsOf(capabilities.plugins);
  const on = textsOf(draft.plugin_ids);
  const shown =
    all.find(({ key }) => key === wanted) ?? all.find(({ plugin }) => on.includes(plugin)) ?? all[0];
  if (!shown) return null;
  const state = stateOf(draft, shown);
  return (
    <>
      <Resettable field="sections">
        <h3 className={css.bar}>{t('settings.title')}</h3>
      </Resettable>
      <div className={css.workspace}>
        <div className={css.choices}>
          {all.map((settings) => {
            const its = stateOf(draft, settings);
            return (
              <button
                key={settings.key}
                type="button"
                className={css.choice}
                aria-pressed={settings.key === shown.key}
                onClick={() => setQuery({ section: settings.key })}
              >
                <span className={css.choiceName}>{nameOf(settings).name}</span>
                <span className={css.summary}>{summary(settings)}</span>
                <Chip tone={TONES[its]}>{t(`state.${its}`)}</Chip>
              </button>
            );
          })}
        </div>
        <div className={css.section} key={shown.key}>
          {state !== 'on' && <Off settings={shown} state={state} panel={panel} />}
          {state === 'on' && <Section settings={shown} panel={panel} />}
        </div>
      </div>
    </>
  );
};
