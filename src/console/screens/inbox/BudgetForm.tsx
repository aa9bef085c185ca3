import { useState } from 'react';
import { isObject } from '../../data/guard.ts';
import { CountField } from '../../design/CountField.tsx';
import { CheckField } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type FormProps, Frame } from './DecisionForm.tsx';
import texts from './texts.json' with { type: 'json' };

/** Raises an exhausted budget for the rest of its window, or for the run that waits. */
export const BudgetForm = (props: FormProps) => {
  const t = useTexts(texts);
  const { arguments: own, tickets: [below] = [] } = props.open.ticket;
  const given = below ? below.arguments : own;
  const unit = isObject(given) && given.unit === 'tokens' ? 'tokens' : 'usd';
  const [extra, setExtra] = useState<number | string | undefined>();
  const [isOfRun, setOfRun] = useState(false);
  const [problem, setProblem] = useState<string>();
  const submit = (): void => {
    const isAmount = typeof extra === 'number' && extra > 0 && (unit === 'usd' || Number.isInteger(extra));
    if (isAmount)
      props.onWish({ do: 'answer', value: { extra: { [unit]: extra }, ...(isOfRun && { run_only: true }) } });
    else setProblem(t('budget.problem'));
  };
  return (
    <Frame {...props} isShort submit={t('budget.raise')} tone="primary" onSubmit={submit}>
      <CountField
        label={t(unit === 'usd' ? 'budget.usd' : 'budget.tokens')}
        error={problem}
        value={extra}
        onChange={(value) => {
          setExtra(value);
          setProblem(undefined);
        }}
      />
      <CheckField label={t('budget.ofRun')} checked={isOfRun} onChange={setOfRun} />
    </Frame>
  );
};
