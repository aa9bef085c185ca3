import type { CallPart } from '../chat/call.ts';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { DialogActions } from '../design/Dialog.tsx';
import { Icon } from '../design/Icon.tsx';
import { Facts } from '../design/Layout.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './AssistantChat.module.css';
import { actionOf, type Problem, type Spec } from './actions.ts';
import texts from './texts.json' with { type: 'json' };
import { useOpenDraft } from './use-open-draft.ts';

const Problems = ({ problems, spec }: { problems: readonly Problem[]; spec?: Spec | undefined }) => {
  const t = useTexts(texts);
  const open = useOpenDraft();
  if (problems.length === 0) return null;
  return (
    <ul className={`stack ${css.problems}`}>
      {problems.map(({ text, tab }) => (
        <li key={text} className="row">
          <Icon name="error" size={14} />
          <span className="grow">{redactText(text)}</span>
          {spec && (
            <button type="button" onClick={() => void open(spec, tab)}>
              {t('problem.fix')}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
};

const oneLine = (value: unknown): string => redactText(typeof value === 'string' ? value : '—');

const Draft = ({ spec, problems }: { spec: Spec; problems: readonly Problem[] }) => {
  const t = useTexts(texts);
  const open = useOpenDraft();
  return (
    <>
      <Facts
        rows={[
          [t('draft.id'), <code key="id">{spec.id}</code>],
          [t('draft.answers'), <code key="model">{oneLine(spec.model_id)}</code>],
          [
            t('draft.prompt'),
            <span key="prompt" className={css.prompt}>
              {oneLine(spec.system_prompt)}
            </span>,
          ],
        ]}
      />
      <Problems problems={problems} spec={spec} />
      <DialogActions>
        <Button small tone="primary" icon="edit" onClick={() => void open(spec)}>
          {t('draft.open')}
        </Button>
      </DialogActions>
    </>
  );
};

/** The outcome of a call and the next step that the user can take. */
export const ActionCard = ({ part }: { part: CallPart }) => {
  const t = useTexts(texts);
  const action = actionOf(part);
  if (!action) return null;
  const tone = action.kind === 'refused' ? 'error' : 'agent';
  return (
    <section
      className="stack inset ruled"
      style={{ background: `var(--${tone}-tint)` }}
      data-kind={action.kind}
    >
      <h3 style={{ color: `var(--${tone})`, fontSize: 13 }}>
        {action.kind === 'published' ? t('action.published', { id: action.id }) : t(`action.${action.kind}`)}
      </h3>
      {action.kind === 'draft' && <Draft spec={action.spec} problems={action.problems} />}
      {action.kind === 'refused' && <Problems problems={action.problems} />}
      {action.kind === 'valid' && <Problems problems={action.warnings.map((text) => ({ text, tab: '' }))} />}
      {action.kind === 'published' && (
        <DialogActions>
          <ScreenLink to={`/agents/${encodeURIComponent(action.id)}`}>{t('action.open')}</ScreenLink>
        </DialogActions>
      )}
    </section>
  );
};
