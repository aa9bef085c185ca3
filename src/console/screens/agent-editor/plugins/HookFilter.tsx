import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { textsOf } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import type { PanelProps } from '../panel.ts';
import css from './Plugins.module.css';
import { hookFilterOf } from './settings.ts';
import { texts } from './texts.ts';

/** Which of the plugins that are on take part in runs. */

const MODES = ['all', 'some'] as const;

export const HookFilter = ({ draft, change, errors }: PanelProps) => {
  const t = useTexts(texts);
  const on = textsOf(draft.plugin_ids);
  const filter = textsOf(draft.active_hook_filter);
  const { chosen, stale } = hookFilterOf(draft);
  const mode = filter.length === 0 ? 'all' : 'some';
  const set = (next: readonly string[]): void => change({ active_hook_filter: next });
  const error = errors.get('active_hook_filter');
  return (
    <Resettable field="active_hook_filter">
      <Card
        className={css.hookCard}
        title={t('hooks')}
        note={t('hooks.note')}
        actions={
          <fieldset className={css.modes} aria-label={t('hooks.mode')}>
            {MODES.map((one) => (
              <Button
                key={one}
                small
                aria-pressed={mode === one}
                tone={mode === one ? undefined : 'quiet'}
                disabled={one === 'some' && on.length === 0}
                onClick={() => set(one === 'all' ? [] : mode === 'some' ? filter : on)}
              >
                {t(`hooks.${one}`)}
              </Button>
            ))}
          </fieldset>
        }
      >
        {mode === 'all' && <p className={css.note}>{t('hooks.all.text')}</p>}
        {mode === 'some' && (
          <ul className={css.hooks}>
            {on.map((id) => (
              <li key={id}>
                <label className={css.hook}>
                  <input
                    type="checkbox"
                    className={boxLook}
                    checked={chosen.includes(id)}
                    disabled={chosen.length === 1 && chosen[0] === id}
                    onChange={(event) =>
                      set(event.target.checked ? [...filter, id] : filter.filter((other) => other !== id))
                    }
                  />
                  <span className={css.mono}>{id}</span>
                </label>
              </li>
            ))}
            {stale.map((id) => (
              <li key={id} className={css.hook}>
                <span className={css.mono}>{id}</span>
                <Chip tone="warn">{t('hooks.stale')}</Chip>
                <Button small onClick={() => set(filter.filter((other) => other !== id))}>
                  {t('hooks.remove')}
                </Button>
              </li>
            ))}
          </ul>
        )}
        {error && <p className={css.wrong}>{error}</p>}
      </Card>
    </Resettable>
  );
};
