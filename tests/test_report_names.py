"""How kernel names are shortened and told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import GEMM, NASTY, SIGMOID
from traceattr.report.names import LIMIT, cut, label_names, shorten

NAMES = st.text(alphabet="ab1_<>()[]{}:, *&\n\x1bé…", max_size=200) | st.text(max_size=100)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        pytest.param("_topk_kernel", "_topk_kernel", id="nothing to leave out"),
        pytest.param(
            "void sglang::reduce_one_stage<__nv_bfloat16, (int)2>(sglang::Data *, T1 *, int)",
            "reduce_one_stage",
            id="return type, namespace, scalars, numbers and parameters go",
        ),
        pytest.param(
            "<unnamed>::topk_kernel(<unnamed>::Params)", "topk_kernel", id="unnamed namespace"
        ),
        pytest.param(
            "void (anonymous namespace)::two_shot_kernel<float, 8>(float*)",
            "two_shot_kernel",
            id="anonymous namespace",
        ),
        pytest.param(
            "void marlin::Marlin<__half, (long)11259>(const int4 *)",
            "marlin::Marlin",
            id="a short name keeps its namespace",
        ),
        pytest.param(
            SIGMOID, "vectorized_elementwise_kernel<sigmoid_kernel_cuda>", id="function of a lambda"
        ),
        pytest.param(
            "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<long, "
            "bool, at::native::CompareEqFunctor<long>>, std::array<char*, 3ul>>(int, T2, T3)",
            "vectorized_elementwise_kernel<CompareEqFunctor>",
            id="innermost functor",
        ),
        pytest.param(
            "void at::native::index_elementwise_kernel<128, 4, void at::native::gpu_index_kernel<"
            "at::native::index_put_impl<at::native::OpaqueType<(int)8>>(at::TensorIterator &)::"
            "[lambda(char *) (instance 1)]>(at::TensorIteratorBase &)::[lambda(int) (instance 1)]>"
            "(long, T3)",
            "index_elementwise_kernel<index_put_impl<OpaqueType>>",
            id="a function is not replaced by its type",
        ),
        pytest.param(
            "void scatter_gather_elementwise_kernel<128, void internal_scatter_gather_kernel<1, "
            "int>::operator ()<at::native::ReduceMean>(at::Iterator &)::[lambda(int)]>(int, T3)",
            "scatter_gather_elementwise_kernel<ReduceMean>",
            id="arguments of a call operator",
        ),
        pytest.param(
            "void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_16x16_128x2_tn_align8>"
            "(T1::Params)",
            "cutlass_80_wmma_tensorop_s161616gemm_16x16_128x2_tn_align8",
            id="the inner name of a launcher",
        ),
        pytest.param(
            "void cutlass::device_kernel<flash::enable_sm90<flash::FlashFwdSm90<flash::"
            "CollectiveMainloopFwdSm90<(int)2, cute::tuple<cute::C<(int)1>>, float>, flash::"
            "CollectiveEpilogueFwd<int>, flash::Scheduler>>>(T1::Params)",
            "FlashFwdSm90<CollectiveMainloopFwdSm90, ...>",
            id="what the launcher launches, as deep as there is room",
        ),
        pytest.param(
            "std::enable_if<T2>(int)0&&vllm::_convert<T1>::exists, void>::type "
            "vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *, int)",
            "fused_add_rms_norm_kernel",
            id="a return type with comparisons",
        ),
        pytest.param(
            "void expert::grouped_gemm<expert::Fp8Functor<cutlass::float_e4m3_t, (int)12",
            "grouped_gemm<Fp8Functor>",
            id="a truncated name",
        ),
        pytest.param(
            "_ZN6sglang20cross_device_reduce1I13__nv_bfloat16Li2EEEvPNS_8RankDataE",
            "cross_device_reduce1",
            id="mangled",
        ),
        pytest.param(
            "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_11FillFunctorIN3c104HalfEEE"
            "St5arrayIPcLm1EEEEviT0_T1_",
            "vectorized_elementwise_kernel<FillFunctor>",
            id="mangled with arguments",
        ),
        pytest.param(
            GEMM, "ampere_bf16_s16816gemm_bf16_64x64_s...dg8_f2f_stages_64x5_tn", id="no structure"
        ),
        pytest.param("[CUDA memcpy Device-to-Host]", "[CUDA memcpy Device-to-Host]", id="no C++"),
        pytest.param("Memset (Device)", "Memset (Device)", id="no parameters"),
        pytest.param("a\tb", "a\\tb", id="control characters"),
        pytest.param("", "(no name)", id="empty"),
        pytest.param("void", "void", id="only a type"),
    ],
)
def test_keeps_what_tells_a_kernel_apart(name: str, short: str) -> None:
    assert shorten(name) == short


def test_a_name_that_is_no_code_is_only_cut() -> None:
    assert shorten(NASTY, 30) == "evil|kernel`<b>bo...)</script>"


@given(NAMES, st.integers(min_value=0, max_value=80))
def test_is_never_longer_than_the_limit_and_always_one_printable_line(
    name: str, limit: int
) -> None:
    short = shorten(name, limit)

    assert len(short) <= limit
    assert short.isprintable()


@given(st.sampled_from("<([{>)]}:,"), st.integers(min_value=1, max_value=5000))
def test_survives_any_depth_of_brackets(bracket: str, times: int) -> None:
    assert len(shorten(f"a::b{bracket * times}")) <= LIMIT


@given(st.lists(NAMES, max_size=12), st.integers(min_value=12, max_value=60))
def test_different_names_get_different_labels_whatever_their_order(
    names: list[str], limit: int
) -> None:
    labels = label_names(names, limit)

    assert labels.keys() == set(names)
    assert len(set(labels.values())) == len(labels)
    assert max(map(len, labels.values()), default=0) <= limit
    assert labels == label_names(reversed(names), limit)


def test_alike_names_show_the_words_in_which_they_differ() -> None:
    names = [
        "void a::reduce_kernel<float, 2>(int)",
        "void a::reduce_kernel<float, 4>(int)",
        "void a::reduce_kernel<half, 4>(int)",
    ]

    labels = label_names(names)

    assert [labels[name] for name in names] == [
        "reduce_kernel {float,2}",
        "reduce_kernel {float,4}",
        "reduce_kernel {half,4}",
    ]


def test_alike_names_of_different_shape_show_words_that_others_lack() -> None:
    names = ["void a::merge_states(int)", "void b::c::merge_states(long, long)"]

    labels = label_names(names)

    assert [labels[name] for name in names] == ["merge_states {a}", "merge_states"]


def test_long_alike_names_show_the_piece_that_was_cut_out() -> None:
    names = [f"gemm_bf16_{'x' * 40}_tile{tile}_{'y' * 40}_kernel" for tile in (64, 128)]

    labels = label_names(names)

    assert [labels[name][-9:] for name in names] == [" {tile64}", "{tile128}"]


def test_names_that_only_differ_in_punctuation_are_numbered() -> None:
    labels = label_names(["void a::other_kernel(int *)", "void a::other_kernel(int &)"])

    assert sorted(labels.values()) == ["other_kernel #1", "other_kernel #2"]


def test_a_cut_name_keeps_both_ends() -> None:
    assert cut("abcdefghijklmnopqrstuvwxyz", 13) == "abcdef...wxyz"
    assert cut("abc", 3) == "abc"
    assert cut("abcdef", 2) == ".."


def test_a_cut_name_keeps_its_arguments_whole_if_there_is_room() -> None:
    assert cut("vectorized_elementwise_kernel<log_cuda>", 30) == "vectorized_elemen...<log_cuda>"
    assert cut("reduce_kernel<some_very_long_functor>", 30) == "reduce_kernel<som...g_functor>"
