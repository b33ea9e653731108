//! The algorithms of the registry. A new algorithm needs one file in this folder and one line in this file.

crate::registry::algorithms! {
    "reno" or "newreno" => reno::Reno,
    "cubic" => cubic::Cubic,
    "bic" => bic::Bic,
    "highspeed" => highspeed::HighSpeed,
    "htcp" => htcp::Htcp,
    "hybla" => hybla::Hybla,
    "illinois" => illinois::Illinois,
    "scalable" => scalable::Scalable,
    "westwood" => westwood::Westwood,
    "compound" => compound::Compound,

    "vegas" => vegas::Vegas,
    "veno" => veno::Veno,
    "nv" or "nevada" => nv::Nv,
    "yeah" => yeah::Yeah,
    "cdg" => cdg::Cdg,
    "lp" => lp::Lp,
    "ledbat" => ledbat::Ledbat,
    "ledbat_plus_plus" or "ledbat++" => ledbat_plus_plus::LedbatPlusPlus,
    "copa" => copa::Copa,

    "bbr1" or "bbr" => bbr1::Bbr1,
    "bbr2" => bbr2::Bbr2,
    "bbr3" => bbr3::Bbr3,
    "bbr_n_plus" => bbr_n_plus::BbrNPlus,
    "bbq" => bbq::Bbq,
    "da_bbr" => da_bbr::DaBbr,
    "ad_bbr" => ad_bbr::AdBbr,

    "dctcp" => dctcp::Dctcp,
    "prague" => prague::Prague,
}
