import { useState } from 'react';
import { changed } from '../../data/records.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { TextField } from '../../design/Inputs.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { agentsIn, checkAll, createAll, type Found, isMasked, type Problem } from './import-agents.ts';
import texts from './texts.json' with { type: 'json' };

type Row = Found & { state: 'valid' | 'refused' | 'created'; said: string };

const TONES = { valid: 'info', refused: 'error', created: 'success' } as const;

const Rows = ({ rows }: { rows: readonly Row[] }) => {
  const t = useTexts(texts);
  return (
    <ul className="stack">
      {rows.map(({ id, state, said }) => (
        <li key={id} data-testid={`import-row-${id}`}>
          {state === 'created' ? (
            <ScreenLink to={`/agents/${encodeURIComponent(id)}`}>{id}</ScreenLink>
          ) : (
            <code>{id}</code>
          )}
          <Chip tone={TONES[state]}>{t(`import.${state}`)}</Chip>
          {said !== '' && <small className="quiet">{said}</small>}
        </li>
      ))}
    </ul>
  );
};

/** Reads agents from JSON, validates each with the service, and creates those that are accepted. */
const ImportDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const [written, write] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [rows, setRows] = useState<readonly Row[]>();
  const [isBusy, setBusy] = useState(false);
  const change = (text: string): void => {
    write(text);
    setProblem(undefined);
    setRows(undefined);
  };
  const check = async (): Promise<void> => {
    const read = agentsIn(written);
    if ('problem' in read) {
      setProblem(read.problem);
      return;
    }
    setBusy(true);
    const results = await checkAll(read.found);
    setRows(
      read.found.map((one, place): Row => {
        const { outcome, said = '' } = results[place] ?? {};
        if (outcome !== 'done') return { ...one, state: 'refused', said };
        return isMasked(one.spec)
          ? { ...one, state: 'refused', said: t('import.masked') }
          : { ...one, state: 'valid', said: '' };
      }),
    );
    setBusy(false);
  };
  const valid = (rows ?? []).filter(({ state }) => state === 'valid');
  const create = async (): Promise<void> => {
    setBusy(true);
    const results = new Map((await createAll(valid)).map((result) => [result.id, result]));
    setRows(
      rows?.map((row): Row => {
        const result = results.get(row.id);
        if (!result) return row;
        return { ...row, state: result.outcome === 'done' ? 'created' : 'refused', said: result.said };
      }),
    );
    changed('agents');
    setBusy(false);
  };
  return (
    <Dialog title={t('import')} size={620} onClose={onClose}>
      <div className="stack">
        <Field label={t('import.file')}>
          {(control) => (
            <input
              {...control}
              type="file"
              accept="application/json,.json"
              onChange={({ target }) => void target.files?.[0]?.text().then(change)}
            />
          )}
        </Field>
        <TextField
          label={t('import.json')}
          error={problem && t(`import.problem.${problem}`)}
          isCode
          rows={8}
          value={written}
          onChange={change}
        />
        {rows && <Rows rows={rows} />}
        <DialogActions>
          <Button onClick={onClose}>{t('import.close')}</Button>
          <Button disabled={isBusy || written.trim() === ''} onClick={() => void check()}>
            {t('import.check')}
          </Button>
          <Button tone="primary" disabled={isBusy || valid.length === 0} onClick={() => void create()}>
            {t('import.create', { count: valid.length })}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
};

export default ImportDialog;
