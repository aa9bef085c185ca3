import { useMemo, useState } from 'react';
import type { JsonObject } from '../data/guard.ts';
import { redact } from '../data/redaction.ts';
import { Button } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Entry.module.css';
import { type Choices, type MergePart, merged, mergeParts, type ReadField } from './merge.ts';
import texts from './texts.json' with { type: 'json' };

/** Shown when another operator has saved the same entry: that version, this user's version, and the merged result. */

type Spec = JsonObject & { id: string };

export type MergeDialogProps = {
  /** The version that both edits started from. */
  base: Spec;
  mine: Spec;
  /** Undefined if the entry was deleted. */
  theirs: JsonObject | undefined;
  /** The operator who made the other change, if known. */
  actor: string | undefined;
  /** Reads a field for the comparison. */
  read?: ReadField;
  onMerge: (merged: Spec) => void;
  onTakeTheirs: () => void;
  onClose: () => void;
};

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

const Gone = ({ mine, onMerge, onClose }: Pick<MergeDialogProps, 'mine' | 'onMerge' | 'onClose'>) => {
  const t = useTexts(texts);
  return (
    <Dialog title={t('conflict.gone', { id: mine.id })} onClose={onClose}>
      <p>{t('conflict.goneText')}</p>
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          {t('conflict.cancel')}
        </Button>
        <Button tone="primary" onClick={() => onMerge(mine)}>
          {t('conflict.again')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

export const MergeDialog = (props: MergeDialogProps) => {
  const t = useTexts(texts);
  const { base, mine, theirs, read, onMerge, onClose } = props;
  const [choices, choose] = useState<Choices>({});
  const parts = useMemo(
    () => (theirs ? mergeParts({ base, theirs, mine }, read) : []),
    [base, theirs, mine, read],
  );
  if (!theirs) return <Gone mine={mine} onMerge={onMerge} onClose={onClose} />;
  const open = parts.filter(({ isConflict, path }) => isConflict && choices[path] === undefined).length;
  return (
    <Dialog title={t('conflict.title', { id: base.id })} size={900} onClose={onClose}>
      <p>{t('conflict.text', { actor: props.actor ?? '—' })}</p>
      <table className={`table ${css.merge}`}>
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
      {open > 0 && <p className="quiet">{t('conflict.open', { count: open })}</p>}
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          {t('conflict.cancel')}
        </Button>
        <Button tone="danger" onClick={props.onTakeTheirs}>
          {t('conflict.discard')}
        </Button>
        <Button tone="primary" onClick={() => onMerge(merged(theirs, mine, parts, choices))}>
          {t('conflict.merge')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
