import { ActDialog } from '../../access/ActDialog.tsx';
import { sizeText } from '../../chat/attachments.ts';
import { anything } from '../../data/guard.ts';
import { useMayInvoke } from '../../data/identity.ts';
import { pathOf, send } from '../../data/request.ts';
import { FileButton } from '../../design/FileButton.tsx';
import { DateTime } from '../../design/Time.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { FIRST } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { FileDrawer } from './FileDrawer.tsx';
import { changedFiles, filesOf, PURPOSES, type StoredFile, upload } from './file.ts';
import texts from './texts.json' with { type: 'json' };

const columnsOf: ColumnsOf<StoredFile, keyof typeof texts> = (t, format) => [
  {
    id: 'name',
    ...FIRST,
    value: ({ filename }) => filename,
    text: ({ filename, id }) => `${filename} ${id}`,
    cell: ({ filename }, mark) => mark(filename),
  },
  { id: 'type', shortened: true, value: ({ media_type }) => media_type },
  {
    id: 'size',
    align: 'end',
    value: ({ bytes }) => bytes,
    cell: ({ bytes }) => <span title={t('bytes', { count: format.number(bytes) })}>{sizeText(bytes)}</span>,
  },
  { id: 'purpose', isExtra: true, value: ({ purpose }) => purpose },
  { id: 'created', at: ({ created_at }) => created_at },
  {
    id: 'expires',
    value: ({ expires_at: at }) => at ?? Number.MAX_SAFE_INTEGER,
    text: () => '',
    cell: ({ expires_at: at }) => (at === null ? t('expires.never') : <DateTime at={at} />),
  },
  { id: 'id', isExtra: true, isCode: true, value: ({ id }) => id },
];

const filtersOf = (t: Say<keyof typeof texts>): Filter[] => [
  {
    key: 'purpose',
    kind: 'choice',
    label: t('column.purpose'),
    options: PURPOSES.map((purpose) => [purpose, purpose] as const),
  },
  { key: 'thread', kind: 'text', label: t('common.threadId'), title: t('filter.threadNote') },
];

const DeleteFile = ({ of, onClose }: { of: StoredFile; onClose: () => void }) => {
  const { id, filename: name } = of;
  const remove = async (): Promise<void> => {
    await send({ method: 'DELETE', path: pathOf`/v1/files/${id}` }, anything);
    changedFiles();
  };
  return <ActDialog texts={texts} of="delete" values={{ name }} act={remove} onClose={onClose} />;
};

const Upload = ({ onDone }: { onDone: (file: StoredFile) => void }) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const send = async (file: File): Promise<void> => {
    const stored = await upload(file);
    toast('success', t('upload.done', { name: stored.filename }));
    onDone(stored);
  };
  return (
    <FileButton
      label={t('upload.file')}
      accept=""
      isMain
      disabled={isBusy}
      onFile={(file) => run(() => send(file))}
    >
      {t(isBusy ? 'upload.busy' : 'upload')}
    </FileButton>
  );
};

export default function Files() {
  const t = useTexts(texts);
  const isWriter = useMayInvoke();
  const [{ purpose, thread, file }, setQuery] = useQueryState();
  const create = isWriter && <Upload onDone={({ id }) => setQuery({ file: id })} />;
  return (
    <ListScreen
      name="files"
      texts={texts}
      pages={usePages(filesOf({ purpose, thread }))}
      isSearchedHere
      columns={columnsOf}
      onOpen={({ id }) => setQuery({ file: id })}
      openId={file}
      filters={filtersOf}
      menu={(of) => [
        {
          label: t('delete.confirm'),
          icon: 'trash',
          tone: 'danger',
          isOff: !isWriter,
          dialog: (close) => <DeleteFile of={of} onClose={close} />,
        },
      ]}
      head={create}
      first={create}
    >
      {file !== undefined && <FileDrawer id={file} onClose={() => setQuery({ file: undefined })} />}
    </ListScreen>
  );
}
