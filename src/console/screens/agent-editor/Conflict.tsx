import { useMemo, useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './AgentEditor.module.css';
import type { Editing } from './editing.ts';
import { type Choices, type MergePart, merged, mergeParts } from './merge.ts';
import { texts } from './texts.ts';
import type { Conflict, Saving } from './use-saving.ts';

/** Somebody else has saved the same agent: theirs, mine, and what is saved of both. */

const shown = (value: unknown): string =>
  value === undefined ? '—' : typeof value === 'string' ? value : JSON.stringify(value, null, 1);

const Part = (props: {
  part: MergePart;
  choice: 'theirs' | 'mine';
  onChoose: (choice: 'theirs' | 'mine') => void;
}) => {
  const t = useTexts(texts);
  const { part, choice } = props;
  return (
    <tr>
      <th scope="row">
        <code>{part.path}</code>
        {part.isConflict && <Chip tone="warn">{t('conflict.both')}</Chip>}
      </th>
      {(['theirs', 'mine'] as const).map((whose) => (
        <td key={whose} data-chosen={choice === whose || undefined}>
          <label>
            <input
              type="radio"
              name={part.path}
              checked={choice === whose}
              onChange={() => props.onChoose(whose)}
              aria-label={t(`conflict.take.${whose}`, { field: part.path })}
            />
            <pre>{shown(redact(part[whose], part.path))}</pre>
          </label>
        </td>
      ))}
    </tr>
  );
};

/** What is edited, and the ways out of the conflict. */
type Asked = {
  editing: Pick<Editing, 'start' | 'draft'>;
  saving: Pick<Saving, 'leaveConflict' | 'resolve' | 'takeTheirs'>;
};

const Gone = ({ editing, saving }: Asked) => {
  const t = useTexts(texts);
  return (
    <Dialog title={t('conflict.gone')} onClose={saving.leaveConflict}>
      <p>{t('conflict.goneText')}</p>
      <DialogActions>
        <Button data-autofocus onClick={saving.leaveConflict}>
          {t('conflict.cancel')}
        </Button>
        <Button tone="primary" onClick={() => saving.resolve(editing.draft)}>
          {t('conflict.again')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

export const ConflictDialog = (props: Asked & { conflict: Conflict }) => {
  const t = useTexts(texts);
  const { editing, conflict, saving } = props;
  const { spec } = conflict;
  const [choices, choose] = useState<Choices>({});
  const parts = useMemo(() => (spec ? mergeParts(editing.start, spec, editing.draft) : []), [editing, spec]);
  if (!spec) return <Gone editing={editing} saving={saving} />;
  const open = parts.filter(({ isConflict, path }) => isConflict && choices[path] === undefined).length;
  return (
    <Dialog title={t('conflict.title', { id: editing.start.id })} size={900} onClose={saving.leaveConflict}>
      <p>{t('conflict.text', { actor: conflict.meta?.actor ?? '—' })}</p>
      <table className={css.merge}>
        <thead>
          <tr>
            <th scope="col">{t('conflict.field')}</th>
            <th scope="col">{t('conflict.theirs')}</th>
            <th scope="col">{t('conflict.mine')}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <Part
              key={part.path}
              part={part}
              choice={choices[part.path] ?? part.from}
              onChoose={(choice) => choose({ ...choices, [part.path]: choice })}
            />
          ))}
        </tbody>
      </table>
      {open > 0 && <p className={css.note}>{t('conflict.open', { count: open })}</p>}
      <DialogActions>
        <Button data-autofocus onClick={saving.leaveConflict}>
          {t('conflict.cancel')}
        </Button>
        <Button tone="danger" onClick={saving.takeTheirs}>
          {t('conflict.discard')}
        </Button>
        <Button tone="primary" onClick={() => saving.resolve(merged(spec, editing.draft, parts, choices))}>
          {t('conflict.merge')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
