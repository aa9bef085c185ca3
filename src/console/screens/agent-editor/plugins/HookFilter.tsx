import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { Card } from '../../../design/Layout.tsx';
import { Segmented } from '../../../design/Segmented.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { textsOf } from '../draft.ts';
import { Picks, picked } from '../Picks.tsx';
import { hookFilterOf } from './plugin-settings.ts';
import texts from './texts.json' with { type: 'json' };

/** A widget that selects the enabled plugins that take part in runs. */
export default function HookFilter({ path, value, onChange: set }: SeenProps) {
  const t = useTexts(texts);
  const { draft } = useAgent().form;
  const on = textsOf(draft.plugin_ids);
  const filter = textsOf(value);
  const { chosen, stale } = hookFilterOf(draft);
  const isFiltered = filter.length > 0;
  const error = useForm().errors.get(path);
  const picks = on.map((id) => ({
    id,
    isPicked: chosen.includes(id),
    isLocked: chosen.length === 1 && chosen[0] === id,
  }));
  return (
    <Card
      title={t('hooks')}
      note={t('hooks.note')}
      flush
      actions={
        <Segmented
          label={t('hooks.mode')}
          value={isFiltered ? 'some' : 'all'}
          options={[
            ['all', t('hooks.all')],
            ['some', t('hooks.some')],
          ]}
          onChange={(mode) => set(mode === 'all' ? [] : isFiltered ? filter : on)}
        />
      }
    >
      {!isFiltered && <p className="soft inset">{t('hooks.all.text')}</p>}
      {isFiltered && <Picks picks={picks} onPick={(id, isPicked) => set(picked(filter, id, isPicked))} />}
      {stale.map((id) => (
        <p key={id} className={css.row}>
          <span className="mono">{id}</span>
          <Chip tone="warn">{t('hooks.stale')}</Chip>
          <Button small onClick={() => set(picked(filter, id, false))}>
            {t('hooks.remove')}
          </Button>
        </p>
      ))}
      {error && <p className="quiet bad">{error}</p>}
    </Card>
  );
}
