import { useState } from 'react';
import { useAtom } from '../../data/use-atom.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { TextDialog } from '../../feedback/FormDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import texts from './texts.json' with { type: 'json' };
import { forgetView, isView, keepView, type View, views } from './views.ts';

const NameDialog = ({ query, onClose }: { query: View['query']; onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <TextDialog
      title={t('views.keep')}
      label={t('common.name')}
      confirm={t('common.save')}
      onSave={async (name) => keepView({ name, query })}
      onClose={onClose}
    />
  );
};

export const Views = () => {
  const t = useTexts(texts);
  const known = useAtom(views);
  const [address, setQuery] = useQueryState();
  const [isNaming, setNaming] = useState(false);
  const current = known.find((view) => isView(view, address));
  const cleared = Object.fromEntries(Object.keys(address).map((key) => [key, undefined]));
  const query = Object.fromEntries(
    Object.entries(address).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return (
    <>
      {known.length > 0 && (
        <FilterSelect
          label={t('views.title')}
          value={current?.name ?? ''}
          options={[['', t('views.none')], ...known.map(({ name }) => [name, name] as const)]}
          onChange={(name) => setQuery({ ...cleared, ...known.find((view) => view.name === name)?.query })}
        />
      )}
      {current ? (
        <IconButton small icon="trash" label={t('views.forget')} onClick={() => forgetView(current.name)} />
      ) : (
        Object.keys(query).length > 0 && (
          <Button small icon="plus" onClick={() => setNaming(true)}>
            {t('views.keep')}
          </Button>
        )
      )}
      {isNaming && <NameDialog query={query} onClose={() => setNaming(false)} />}
    </>
  );
};
