import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { CheckField } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { Segmented } from '../../../design/Segmented.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { textsOf, withSection } from '../draft.ts';
import { Picks, picked } from '../Picks.tsx';
import {
  allowlistOf,
  DISCOVERY,
  hiddenSkillTools,
  INSTRUCTIONS,
  skillsSection,
  withSkillTools,
} from './references.ts';
import texts from './texts.json' with { type: 'json' };

/** The skills that an agent may use, and the plugins and tools that this requires. */

const Needs = () => {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { draft, set } = form;
  const plugins = textsOf(draft.plugin_ids);
  const tools = capabilities.tools.map(({ id }) => id);
  const hidden = plugins.includes(DISCOVERY) ? hiddenSkillTools(draft, tools) : [];
  return (
    <>
      {([DISCOVERY, INSTRUCTIONS] as const)
        .filter((id) => capabilities.plugins.some((plugin) => plugin.id === id))
        .map((id) => (
          <div key={id} className={css.switch}>
            <CheckField
              label={t(id)}
              checked={plugins.includes(id)}
              onChange={(isOn) => set({ plugin_ids: picked(plugins, id, isOn) })}
            />
            <span className="quiet cut">{t(`${id}.text`)}</span>
          </div>
        ))}
      {hidden.length > 0 && (
        <Notice
          tone="warn"
          title={t('tools.hidden')}
          actions={
            <Button small onClick={() => set(withSkillTools(draft, hidden))}>
              {t('tools.allow')}
            </Button>
          }
        >
          <span className="mono">{hidden.join(', ')}</span>
        </Notice>
      )}
    </>
  );
};

export default function Skills() {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { draft } = form;
  const { skills } = capabilities;
  const allowlist = allowlistOf(draft);
  const set = (list: readonly string[] | undefined): void =>
    form.set(withSection(draft, 'skills', skillsSection(draft, list)));
  const gone = (allowlist ?? []).filter((id) => skills.every((skill) => skill.id !== id));
  const picks = [...skills, ...gone.map((id) => ({ id, description: '' }))].map(({ id, description }) => ({
    id,
    about: description,
    isPicked: allowlist?.includes(id) ?? true,
    isLocked: allowlist === undefined,
    marks: gone.includes(id) && <Chip tone="error">{t('gone')}</Chip>,
  }));
  return (
    <>
      <Needs />
      <Card
        title={t('skills')}
        note={t('skills.count', { count: allowlist?.length ?? skills.length })}
        flush
        actions={
          <Segmented
            label={t('skills.mode')}
            value={allowlist ? 'selected' : 'all'}
            options={[
              ['all', t('skills.all')],
              ['selected', t('skills.selected')],
            ]}
            onChange={(mode) => set(mode === 'all' ? undefined : (allowlist ?? []))}
          />
        }
      >
        {picks.length === 0 && <EmptyState title={t('skills.none')}>{t('skills.none.text')}</EmptyState>}
        <Picks picks={picks} onPick={(id, isPicked) => set(picked(allowlist ?? [], id, isPicked))} />
      </Card>
    </>
  );
}
