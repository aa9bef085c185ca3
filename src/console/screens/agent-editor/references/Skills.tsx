import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook, CheckField } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { textsOf, withSection } from '../draft.ts';
import type { PanelProps } from '../panel.ts';
import css from './References.module.css';
import {
  allowlistOf,
  DISCOVERY,
  hiddenSkillTools,
  INSTRUCTIONS,
  skillsSection,
  withSkillTools,
} from './skill-access.ts';
import { texts } from './texts.ts';

/** Which skills an agent may use, and whether it has what it needs for that. */

const Switches = ({ draft, change, capabilities }: PanelProps) => {
  const t = useTexts(texts);
  const plugins = textsOf(draft.plugin_ids);
  const known = new Set(capabilities.plugins.map(({ id }) => id));
  const toggle = (id: string, wanted: boolean): void => {
    const others = plugins.filter((other) => other !== id);
    change({ plugin_ids: wanted ? [...others, id] : others });
  };
  return (
    <div className={css.switches}>
      {([DISCOVERY, INSTRUCTIONS] as const)
        .filter((id) => known.has(id))
        .map((id) => (
          <div key={id}>
            <CheckField
              label={t(id)}
              checked={plugins.includes(id)}
              onChange={(checked) => toggle(id, checked)}
            />
            <span className={css.about}>{t(`${id}.text`)}</span>
          </div>
        ))}
    </div>
  );
};

const Warnings = ({ draft, change, capabilities }: PanelProps) => {
  const t = useTexts(texts);
  const hidden = hiddenSkillTools(
    draft,
    capabilities.tools.map(({ id }) => id),
  );
  if (!textsOf(draft.plugin_ids).includes(DISCOVERY) || hidden.length === 0) return null;
  return (
    <Notice
      tone="warn"
      title={t('tools.hidden')}
      actions={
        <Button small onClick={() => change(withSkillTools(draft, hidden))}>
          {t('tools.allow')}
        </Button>
      }
    >
      <span className={css.mono}>{hidden.join(', ')}</span>
    </Notice>
  );
};

const MODES = ['all', 'selected'] as const;

const Catalog = ({ draft, change, capabilities }: PanelProps) => {
  const t = useTexts(texts);
  const allowlist = allowlistOf(draft);
  const set = (list: readonly string[] | undefined): void =>
    change(withSection(draft, 'skills', skillsSection(draft, list)));
  const known = new Set(capabilities.skills.map(({ id }) => id));
  const gone = (allowlist ?? []).filter((id) => !known.has(id));
  const mode = allowlist === undefined ? 'all' : 'selected';
  const toggle = (id: string, wanted: boolean): void => {
    const others = (allowlist ?? []).filter((other) => other !== id);
    set(wanted ? [...others, id] : others);
  };
  const rows = [...capabilities.skills, ...gone.map((id) => ({ id, name: id, description: '' }))];
  return (
    <Card
      title={t('skills')}
      note={t('skills.count', { count: allowlist?.length ?? capabilities.skills.length })}
      flush
      actions={
        <fieldset className={css.modes} aria-label={t('skills.mode')}>
          {MODES.map((one) => (
            <Button
              key={one}
              small
              aria-pressed={mode === one}
              tone={mode === one ? undefined : 'quiet'}
              onClick={() => set(one === 'all' ? undefined : (allowlist ?? []))}
            >
              {t(`skills.${one}`)}
            </Button>
          ))}
        </fieldset>
      }
    >
      {rows.length === 0 && <EmptyState title={t('skills.none')}>{t('skills.none.text')}</EmptyState>}
      <ul className={css.rows}>
        {rows.map(({ id, description }) => (
          <li key={id}>
            <label className={css.row}>
              <input
                type="checkbox"
                className={boxLook}
                disabled={mode === 'all'}
                checked={allowlist?.includes(id) ?? true}
                onChange={(event) => toggle(id, event.target.checked)}
              />
              <span className={css.mono}>{id}</span>
              {!known.has(id) && <Chip tone="error">{t('gone')}</Chip>}
              <span className={css.about}>{description}</span>
            </label>
          </li>
        ))}
      </ul>
    </Card>
  );
};

export const Skills = (props: PanelProps) => (
  <>
    <Switches {...props} />
    <Warnings {...props} />
    <Catalog {...props} />
  </>
);
